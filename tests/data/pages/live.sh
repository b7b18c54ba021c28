# What measures or listens: figures are N, as they differ from one run to the next, and the words are kept.
sleuth microbench
sleuth watch mlp:4-8-2 --repeats 1 --time 0.05 --pause 0 | sed -E 's/\[[^]]*\]/[N, N]/; s/[0-9.]+ [^ ]?s\b/N/g' | tr '\n' ' ' | sed -E 's/ +/ /g; s/ $/\n/'
sleuth watch mlp:4-8-2 --plain --repeats 1 --time 0.05 --pause 0 | sed -E 's/\[[^]]*\]/[N, N]/; s/[0-9.]+ [^ ]?s\b/N/g' | tr '\n' ' ' | sed -E 's/ +/ /g; s/ $/\n/'
for n in run sweep; do printf '{"saved_at_s": 1700000000, "machine": "aaaa1111bbbb2222", "result": %s}\n' "$(tr '\n' ' ' <$PAGES/$n.json)"; done | sleuth store import - --db a.db
sleuth serve --db a.db --port 0 >url & until grep -qs http url; do sleep 0.05; done; kill $!; wait $!; sed 's/:[0-9]*\/  /:PORT\/  /' url
sleuth serve --db a.db --token short
sleuth serve --db none.db
