/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_kind.c - what a file seems to be that is not a model.
 *
 * Asked only when reading failed: first the marks that formats begin with,
 * then whether it is text.
 */
#include "model/file_kind.h"

#include <string.h>

#include "base/banned.h"

enum { LOOKED_AT = 512 }; /* bytes that tell text from numbers */

static const struct mark {
	size_t at;
	const char *bytes;
	size_t n_bytes;
	const char *kind;
} marks[] = {
#define MARK(at, bytes, kind)                      \
	{                                          \
		at, bytes, sizeof(bytes) - 1, kind \
	}
	MARK(0, "\x89PNG\r\n", "a PNG image"),
	MARK(0, "\xff\xd8\xff", "a JPEG image"),
	MARK(0, "GIF8", "a GIF image"),
	MARK(0, "%PDF", "a PDF document"),
	MARK(0,
	     "\x7f"
	     "ELF",
	     "a program or library"),
	MARK(0, "PK\3\4",
	     "a ZIP archive (PyTorch saves such files; export the model with "
	     "torch.onnx.export)"),
	MARK(0, "\x1f\x8b", "a gzip archive (unpack it first)"),
	MARK(0, "BZh", "a bzip2 archive (unpack it first)"),
	MARK(0,
	     "\xfd"
	     "7zXZ",
	     "an xz archive (unpack it first)"),
	MARK(0, "\x28\xb5\x2f\xfd", "a zstd archive (unpack it first)"),
	MARK(0, "\x89HDF", "an HDF5 file (Keras saves such files)"),
	MARK(0, "\x93NUMPY", "a NumPy array"),
	MARK(0, "GGUF", "a GGUF model"),
	MARK(4, "TFL3", "a TensorFlow Lite model"),
	MARK(4, "ORTM", "a model in ONNX Runtime's own format"),
	MARK(8, "{\"", "a safetensors file"),
	MARK(0, "\x80\2", "a Python pickle (PyTorch saves such files)"),
	MARK(0, "SQLite format 3", "an SQLite database"),
	MARK(0, "version https://git-lfs",
	     "a Git LFS pointer (fetch the file with git lfs pull)"),
	MARK(0, "<!DOCTYPE", "a web page"),
	MARK(0, "<!doctype", "a web page"),
	MARK(0, "<html", "a web page"),
	MARK(0, "#!", "a script"),
#undef MARK
};

static int
is_text(const unsigned char *bytes, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes && i < LOOKED_AT; i++) {
		unsigned char c = bytes[i];

		if ((c < ' ' && !strchr("\t\n\r\f\v\b\033", c)) || c == 0 ||
		    c == 0x7f || c >= 0xf8)
			return 0;
	}
	return 1;
}

const char *
sl__file_kind(const unsigned char *bytes, size_t n_bytes)
{
	if (!n_bytes)
		return NULL;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const struct mark *mark = &marks[i];

		if (n_bytes >= mark->at + mark->n_bytes &&
		    !memcmp(bytes + mark->at, mark->bytes, mark->n_bytes))
			return mark->kind;
	}
	return is_text(bytes, n_bytes) ? "a text file" : NULL;
}
