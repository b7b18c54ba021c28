# Results of a second in 2023, each a minute after the last.
for name in bench eval profile sweep run; do n=$((n + 1)); printf '{"saved_at_s": %d, "commit": "%d%039d", "branch": "main", "machine": "aaaa1111bbbb2222", "tags": {"nightly": "%d"}, "result": %s}\n' $((1700000000 + 60 * n)) $n 0 $n "$(tr '\n' ' ' <$PAGES/$name.json)"; done | sleuth store import - --db a.db
sleuth show --db a.db --color $COLOUR
sleuth show --command sweep --db a.db --color $COLOUR
sleuth show run:5 --db a.db --color $COLOUR
sleuth store delete run:1 run:2 --db a.db
sleuth store delete --older-than 1d --keep 1 --db a.db
sleuth show --db a.db --color $COLOUR
