// SPDX-License-Identifier: Apache-2.0
// Pointing at an operation in the figure of memory names the tensors that are
// in memory while it runs, largest first.
'use strict';

const TENSORS_NAMED = 6;

function tensorsAt(place) {
  const alive = (result.memory.tensors || []).filter((tensor) => tensor.first <= place && place <= tensor.last);
  alive.sort((a, b) => b.bytes - a.bytes);
  const lines = alive.slice(0, TENSORS_NAMED).map((tensor) => `${bytesText(tensor.bytes)}  ${tensor.name} (${tensor.category})`);
  const rest = alive.slice(TENSORS_NAMED);
  if (rest.length) lines.push(`${bytesText(rest.reduce((sum, tensor) => sum + tensor.bytes, 0))}  in ${rest.length} more`);
  return lines.join('\n');
}

// What the tip of a column says: the operation, and what is alive.
function memoryTip(mark, text) {
  return `${text}\n${tensorsAt(Number(mark.dataset.place))}`;
}
