# SPDX-License-Identifier: Apache-2.0
# What zsh offers for a line: `zsh -f offered.zsh FOLDER LINE` prints it, a word
# a line.  FOLDER has _sleuth.  Completion needs a terminal: a second zsh on a
# pseudo-terminal gets the line and a tab, and notes what is added as a match.
emulate -L zsh
zmodload zsh/zpty zsh/zselect

work=$(mktemp -d)
cat >$work/setup <<END
PROMPT= RPROMPT=
fpath=(${(q)1} \$fpath)
autoload -Uz compinit
compinit -u -d $work/dump
zstyle ':completion:*' insert-tab false
unsetopt list_beep beep
# Matches that are only counted or filtered are not offered yet.
compadd() {
	local -a offered
	if [[ " \$* " != *' '-[AOD]' '* ]]; then
		builtin compadd -O offered "\$@"
		print -rl -- \$offered >>$work/words
	fi
	builtin compadd "\$@"
}
note_end() { : >$work/end }
comppostfuncs=(note_end)
: >$work/ready
END
: >$work/words
await() {
	for ((i = 0; i < 1200; i++)); do
		[[ -e $1 ]] && return 0
		zpty -rt shell output 2>/dev/null
		zselect -t 5
	done
	return 1
}
zpty shell zsh -f -i
zpty -w shell "source $work/setup"
await $work/ready && zpty -w -n shell "$2"$'\t' && await $work/end
result=$?
sort -u $work/words
zpty -d shell
rm -r $work
exit $result
