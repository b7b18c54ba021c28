// SPDX-License-Identifier: Apache-2.0
// Reads what zlib deflated (RFC 1950 and 1951), at once and without a request:
// large results are in their pages like that.
'use strict';

const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_EXTRA = [0, 0, 0, 0, ...Array.from({length: 26}, (_, i) => (i >> 1) + 1)];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

// The first value of each symbol: ranges of 2 to the extra bits follow one another.
const rangeStarts = (extra, first) => {
  const starts = [];
  extra.reduce((start, bits) => { starts.push(start); return start + (1 << bits); }, first);
  return starts;
};
const LENGTH_START = [...rangeStarts(LENGTH_EXTRA, 3).slice(0, 28), 258];
const DISTANCE_START = rangeStarts(DISTANCE_EXTRA, 1);

// Codes of given lengths, to be looked up by the next bits: symbol << 4 | length.
function codeTable(lengths) {
  const longest = Math.max(1, ...lengths);
  const entries = new Uint16Array(1 << longest);
  let code = 0;
  for (let length = 1; length <= longest; length++, code <<= 1) {
    lengths.forEach((own, symbol) => {
      if (own !== length) return;
      let reversed = 0;
      for (let bit = 0; bit < length; bit++) reversed |= (code >> bit & 1) << (length - 1 - bit);
      for (let at = reversed; at < entries.length; at += 1 << length) entries[at] = symbol << 4 | length;
      code++;
    });
  }
  return {entries, longest};
}

class Inflate {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 2; // behind zlib's header
    this.bits = 0;
    this.n = 0; // bits that were read but not used
    this.out = new Uint8Array(16 * bytes.length + 64);
    this.size = 0;
  }

  need(n) {
    while (this.n < n) {
      if (this.at > this.bytes.length + 4) throw new Error('the result is cut short');
      this.bits |= this.bytes[this.at++] << this.n;
      this.n += 8;
    }
  }

  take(n) {
    this.need(n);
    const value = this.bits & ((1 << n) - 1);
    this.bits >>>= n;
    this.n -= n;
    return value;
  }

  symbol({entries, longest}) {
    this.need(longest);
    const entry = entries[this.bits & (entries.length - 1)];
    if (!entry) throw new Error('the result is damaged');
    this.take(entry & 15);
    return entry >> 4;
  }

  room(n) {
    if (this.size + n <= this.out.length) return;
    const larger = new Uint8Array(2 * this.out.length + n);
    larger.set(this.out);
    this.out = larger;
  }

  // A block that is not compressed begins at a whole byte: length, its complement, bytes.
  stored() {
    this.take(this.n & 7);
    const n = this.take(8) | this.take(8) << 8;
    this.take(16);
    this.room(n);
    for (let i = 0; i < n; i++) this.out[this.size++] = this.take(8);
  }

  // The two tables of a block: their lengths are written in a code of their own.
  tables() {
    const nLengths = this.take(5) + 257, nDistances = this.take(5) + 1, nCodes = this.take(4) + 4;
    const codes = new Array(19).fill(0);
    for (let i = 0; i < nCodes; i++) codes[CODE_ORDER[i]] = this.take(3);
    const table = codeTable(codes);
    const all = [];
    while (all.length < nLengths + nDistances) {
      const symbol = this.symbol(table);
      if (symbol < 16) { all.push(symbol); continue; }
      const [value, times] = symbol === 16 ? [all[all.length - 1], 3 + this.take(2)] :
        symbol === 17 ? [0, 3 + this.take(3)] : [0, 11 + this.take(7)];
      for (let i = 0; i < times; i++) all.push(value);
    }
    return [codeTable(all.slice(0, nLengths)), codeTable(all.slice(nLengths))];
  }

  compressed([lengths, distances]) {
    for (let symbol = this.symbol(lengths); symbol !== 256; symbol = this.symbol(lengths)) {
      this.room(258);
      if (symbol < 256) { this.out[this.size++] = symbol; continue; }
      const length = LENGTH_START[symbol - 257] + this.take(LENGTH_EXTRA[symbol - 257]);
      const place = this.symbol(distances);
      const distance = DISTANCE_START[place] + this.take(DISTANCE_EXTRA[place]);
      for (let i = 0; i < length; i++, this.size++) this.out[this.size] = this.out[this.size - distance];
    }
  }

  all() {
    for (let last = false; !last;) {
      last = this.take(1) === 1;
      const kind = this.take(2);
      if (kind === 0) this.stored();
      else if (kind === 1) this.compressed([codeTable(Array.from({length: 288}, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8))), codeTable(new Array(30).fill(5))]);
      else this.compressed(this.tables());
    }
    return this.out.subarray(0, this.size);
  }
}

// The text of an element that holds base 64 of deflated UTF-8.
function inflatedText(base64) {
  const packed = atob(base64);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return new TextDecoder().decode(new Inflate(bytes).all());
}
