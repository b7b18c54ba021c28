-- SPDX-License-Identifier: Apache-2.0
-- A store as version 2 left it, one statement in a line; its result 2 was
-- deleted.  A line that begins with S or P is for SQLite or PostgreSQL alone.
-- Not written by the steps in store_schema.c: it says what they must accept.
CREATE TABLE sleuth_schema (version BIGINT NOT NULL)
INSERT INTO sleuth_schema VALUES (2)
S CREATE TABLE sleuth_run (id INTEGER PRIMARY KEY AUTOINCREMENT, saved_at DOUBLE PRECISION NOT NULL, command TEXT NOT NULL, kind TEXT NOT NULL, version TEXT NOT NULL, machine TEXT NOT NULL, commit_id TEXT, branch TEXT, dirty BIGINT NOT NULL, tags TEXT NOT NULL)
P CREATE TABLE sleuth_run (id BIGSERIAL PRIMARY KEY, saved_at DOUBLE PRECISION NOT NULL, command TEXT NOT NULL, kind TEXT NOT NULL, version TEXT NOT NULL, machine TEXT NOT NULL, commit_id TEXT, branch TEXT, dirty BIGINT NOT NULL, tags TEXT NOT NULL)
CREATE TABLE sleuth_point (run BIGINT NOT NULL REFERENCES sleuth_run (id) ON DELETE CASCADE, nth BIGINT NOT NULL, name TEXT NOT NULL, hash TEXT, settings TEXT, time_ns DOUBLE PRECISION, lo_ns DOUBLE PRECISION, hi_ns DOUBLE PRECISION, n BIGINT NOT NULL, PRIMARY KEY (run, nth))
CREATE INDEX sleuth_point_name ON sleuth_point (name, run)
CREATE INDEX sleuth_point_hash ON sleuth_point (hash, run)
CREATE TABLE sleuth_document (run BIGINT PRIMARY KEY REFERENCES sleuth_run (id) ON DELETE CASCADE, deflated BYTEA NOT NULL)
S INSERT INTO sleuth_run VALUES (1, 1000000000.5, 'profile', 'profile', '0.0.9', '0123456789abcdef', 'c0ffee', 'main', 1, char(10) || 'k=v' || char(10) || 'pinned=yes' || char(10))
P INSERT INTO sleuth_run VALUES (1, 1000000000.5, 'profile', 'profile', '0.0.9', '0123456789abcdef', 'c0ffee', 'main', 1, chr(10) || 'k=v' || chr(10) || 'pinned=yes' || chr(10))
INSERT INTO sleuth_point VALUES (1, 0, 'kept', NULL, 'batch 1, f32, 2 threads', 2000000, 1500000, 2500000, 9)
S INSERT INTO sleuth_document VALUES (1, X'78da658fc10ac3200c865fa5e43ca4dde8a17b99e13445a91aa976d016df7dc69ec62e927cf9ccaf272465d04b7876c3ad834ce46a7942901e6b01c9e1960dd4d107d7642930ec452f2628152af25e06cd30ae345b87ac2ef60f79d2f8bb79c1987992685b5523075103f6c0c4fd5b6665baa105452743bbaef31e9b3d3fee6c67b3a2d4ecdfd973326350fb9554cf89b3515b195ebe49fc683b8d57778223feb9182b3696e7622ca57c01e0c450cc')
P INSERT INTO sleuth_document VALUES (1, '\x78da658fc10ac3200c865fa5e43ca4dde8a17b99e13445a91aa976d016df7dc69ec62e927cf9ccaf272465d04b7876c3ad834ce46a7942901e6b01c9e1960dd4d107d7642930ec452f2628152af25e06cd30ae345b87ac2ef60f79d2f8bb79c1987992685b5523075103f6c0c4fd5b6665baa105452743bbaef31e9b3d3fee6c67b3a2d4ecdfd973326350fb9554cf89b3515b195ebe49fc683b8d57778223feb9182b3696e7622ca57c01e0c450cc')
S UPDATE sqlite_sequence SET seq = 2 WHERE name = 'sleuth_run'
P SELECT setval('sleuth_run_id_seq', 2)
S CREATE TABLE sleuth_live (id INTEGER PRIMARY KEY AUTOINCREMENT, machine TEXT NOT NULL, started_at DOUBLE PRECISION NOT NULL, beat_at DOUBLE PRECISION NOT NULL, command TEXT NOT NULL, name TEXT NOT NULL, phase TEXT NOT NULL, share DOUBLE PRECISION NOT NULL, remaining_s DOUBLE PRECISION)
P CREATE TABLE sleuth_live (id BIGSERIAL PRIMARY KEY, machine TEXT NOT NULL, started_at DOUBLE PRECISION NOT NULL, beat_at DOUBLE PRECISION NOT NULL, command TEXT NOT NULL, name TEXT NOT NULL, phase TEXT NOT NULL, share DOUBLE PRECISION NOT NULL, remaining_s DOUBLE PRECISION)
