# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion for bash.  Options are asked of the program itself, so that this
# file needs no change when they do; after "--" words are commands and files.

_sleuth() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local choices='inspect bench compare machine zoo selfcheck help' i

	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
			return
		fi
	done
	if ((COMP_CWORD == 1)); then
		choices+=' --help --version'
	elif [[ ${COMP_WORDS[1]} != help ]]; then
		case $before in
		--color) choices='auto always never' ;;
		--sort) choices='command mean-time' ;;
		--style) choices='full basic none' ;;
		-u | --time-unit) choices='ns us ms s' ;;
		*)
			[[ $word == -* ]] || return
			choices=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help \
				2>/dev/null |
				sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p')
			;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o default -F _sleuth sleuth
