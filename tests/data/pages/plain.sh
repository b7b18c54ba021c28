# Pages for logs: ASCII without colours, whatever the terminal is.
sleuth report $PAGES/bench.json --plain
sleuth report $PAGES/compare-threads.json --plain
sleuth report $PAGES/generate.json --plain
sleuth report $PAGES/bench.json --plain --color always
