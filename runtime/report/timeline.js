'use strict';
// Numbers are digits of five bits, the least first, a sixth bit says that more follow; a digit d is the character 63 + d.
const $ = id => document.getElementById(id), info = JSON.parse($('info').textContent);
const reader = id => {
  const text = $(id).textContent;
  let at = 0;
  const next = () => {
    for (let n = 0, unit = 1;; unit *= 32) {
      const d = text.charCodeAt(at++) - 63;
      n += (d & 31) * unit;
      if (d < 32) return n;
    }
  };
  return {next, signed: () => { const n = next(); return n % 2 ? -(n + 1) / 2 : n / 2; }};
};
// ---- tasks: what each is, when it ran, where, and whom it waited for ----
const count = info.tasks, rows = info.rows.length, kind = new Uint16Array(count), row = new Uint16Array(count);
const begin = new Float64Array(count), end = new Float64Array(count), firstEdge = new Uint32Array(count + 1);
const from = new Uint32Array(info.edges), last = new Float64Array(rows);
{
  const r = reader('tasks');
  for (let n = 0, e = 0; n < count; n++) {
    row[n] = r.next();
    kind[n] = r.next();
    begin[n] = last[row[n]] += r.signed();
    end[n] = begin[n] + r.next();
    firstEdge[n] = e;
    for (let k = r.next(); k > 0; k--) from[e++] = n - r.next();
    firstEdge[n + 1] = e;
  }
}
// The waits of a rank's orchestrator are its first row.
const waits = info.waits, waitKind = new Uint16Array(waits), waitBegin = new Float64Array(waits), waitEnd = new Float64Array(waits);
{
  const r = reader('waits');
  for (let i = 0, at = 0; i < waits; i++) {
    waitKind[i] = r.next();
    waitBegin[i] = at += r.signed();
    waitEnd[i] = at + r.next();
  }
}
// ---- levels of detail: of each row the order of its tasks, and the busy time before each ----
const orders = info.rows.map(() => 0), busy = [];
for (let n = 0; n < count; n++) if (end[n] > 0) orders[row[n]]++;
for (let r = 0; r < rows; r++) orders[r] = new Uint32Array(orders[r]);
{
  const filled = new Uint32Array(rows);
  for (let n = 0; n < count; n++) if (end[n] > 0) orders[row[n]][filled[row[n]]++] = n;
}
const waitsOf = info.rows.map(() => null);
for (const r of info.ranks) waitsOf[r] = [];
for (let i = 0; i < waits; i++) waitsOf[info.waitRows[waitKind[i]]].push(i);
const rowOf = r => waitsOf[r] ? {length: waitsOf[r].length, begin: i => waitBegin[waitsOf[r][i]], end: i => waitEnd[waitsOf[r][i]],
                                 color: i => info.waitKinds[waitKind[waitsOf[r][i]]].color}
                           : {length: orders[r].length, begin: i => begin[orders[r][i]], end: i => end[orders[r][i]], color: i => info.kinds[kind[orders[r][i]]].color};
const lines = info.rows.map((name, r) => {
  const o = orders[r];
  let sorted = true;
  for (let i = 1; i < o.length && sorted; i++) sorted = begin[o[i - 1]] <= begin[o[i]];
  if (!sorted) o.sort((a, b) => begin[a] - begin[b]);
  const line = rowOf(r), sums = new Float64Array(line.length + 1);
  for (let i = 0; i < line.length; i++) sums[i + 1] = sums[i] + line.end(i) - line.begin(i);
  return Object.assign(line, {sums});
});
// The first entry of the row, from `low` on, that ends after the time.
const search = (line, time, low = 0) => {
  let high = line.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (line.end(middle) > time) high = middle; else low = middle + 1;
  }
  return low;
};
const busyBefore = (line, time, i) => line.sums[i] + (i < line.length ? Math.max(0, time - line.begin(i)) : 0);
// ---- messages: of each its receive, and its send among what that waited for ----
const rankOf = r => { let k = info.ranks.length - 1; while (info.ranks[k] > r) k--; return k; };
const ranks = info.rows.map((_, r) => rankOf(r)), sends = [], receives = [];
for (let n = 0; n < count && info.ranks.length > 1; n++)
  for (let e = firstEdge[n]; e < firstEdge[n + 1]; e++)
    if (ranks[row[from[e]]] !== ranks[row[n]] && end[n] > 0) sends.push(from[e]), receives.push(n);
// ---- drawing ----
const canvas = $('timeline'), draw = canvas.getContext('2d'), HEIGHT = 20, LEFT = 104, whole = Math.max(info.end, 1);
let low = 0, high = whole, selected = -1, path = new Set(), found = -1, waiting = false;
const style = name => getComputedStyle(document.body).getPropertyValue(name).trim();
let wide = canvas.clientWidth;
const scale = () => (wide - LEFT) / (high - low);
const x = time => LEFT + (time - low) * scale();
const shown = time => info.unit === 'ns' ? (time / 1e3).toLocaleString('en', {maximumFractionDigits: 3}) + ' us' : time.toLocaleString('en') + ' cycles';
const paintRow = (line, y) => {
  const width = wide - LEFT, first = search(line, low), after = search(line, high);
  if (after - first <= width / 2) {
    for (let i = first; i <= after && i < line.length; i++) {
      const a = Math.max(LEFT, x(line.begin(i))), b = Math.min(wide, x(line.end(i)));
      if (b < a) continue;
      draw.fillStyle = line.color(i);
      draw.fillRect(a, y + 2, Math.max(b - a - (b - a > 3 ? 1 : 0), 0.5), HEIGHT - 4);
    }
    return;
  }
  // A column a pixel; neighbours that look the same are one rectangle.
  let began = 0, alpha = 0, color = '';
  const flush = c => {
    if (alpha > 0) draw.globalAlpha = alpha, draw.fillStyle = color, draw.fillRect(LEFT + began, y + 2, c - began, HEIGHT - 4);
    began = c;
  };
  for (let c = 0, i = first, before = busyBefore(line, low, first); c < width; c++) {
    const time = low + (c + 1) / scale(), n = search(line, time, i), sum = busyBefore(line, time, n);
    const share = Math.ceil(Math.min(1, (sum - before) * scale()) * 16) / 16, here = line.color(Math.min((i + n) >> 1, line.length - 1));
    if (share !== alpha || here !== color) flush(c), alpha = share, color = here;
    before = sum, i = n;
  }
  flush(width);
  draw.globalAlpha = 1;
};
const paint = () => {
  waiting = false;
  wide = canvas.clientWidth;
  const ratio = window.devicePixelRatio || 1, width = wide, height = rows * HEIGHT + 18;
  if (canvas.width !== width * ratio || canvas.height !== height * ratio) canvas.width = width * ratio, canvas.height = height * ratio;
  draw.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw.clearRect(0, 0, width, height);
  draw.font = '12px sans-serif';
  for (let r = 0; r < rows; r++) {
    draw.fillStyle = style('--ink');
    draw.fillText(info.rows[r], 0, r * HEIGHT + 14);
    draw.fillStyle = style('--line');
    draw.fillRect(LEFT, (r + 1) * HEIGHT - 1, width - LEFT, 1);
    paintRow(lines[r], r * HEIGHT);
  }
  const steps = Math.max(1, Math.floor((width - LEFT) / 200));
  draw.fillStyle = style('--ink');
  for (let i = 0; i <= steps; i++) {
    const time = low + (high - low) * i / steps;
    draw.textAlign = i === 0 ? 'left' : i === steps ? 'right' : 'center';
    if (i < steps || steps > 1 || width > 300) draw.fillText(shown(Math.round(time)), x(time), rows * HEIGHT + 14);
  }
  draw.textAlign = 'left';
  draw.strokeStyle = style('--ink');
  paintMessages();
  let previous = null;
  for (const n of path) {
    const here = {x: x((begin[n] + end[n]) / 2), y: row[n] * HEIGHT + HEIGHT / 2};
    draw.lineWidth = 1;
    if (previous) draw.beginPath(), draw.moveTo(previous.x, previous.y), draw.lineTo(here.x, here.y), draw.stroke();
    previous = here;
  }
  if (selected >= 0) {
    draw.lineWidth = 2;
    draw.strokeRect(x(begin[selected]) - 1, row[selected] * HEIGHT + 1, Math.max(2, (end[selected] - begin[selected]) * scale() + 2), HEIGHT - 2);
  }
};
// An arrow a message, from where its send begins to where its receive ends, unless there are too many to see.
const paintMessages = () => {
  const most = 500, seen = [];
  for (let i = 0; i < sends.length && seen.length <= most; i++) if (end[receives[i]] >= low && begin[sends[i]] <= high) seen.push(i);
  if (seen.length > most) return;
  draw.save();
  draw.beginPath();
  draw.rect(LEFT, 0, wide - LEFT, rows * HEIGHT);
  draw.clip();
  draw.lineWidth = 1;
  draw.beginPath();
  for (const i of seen) {
    const x0 = x(begin[sends[i]]), x1 = x(end[receives[i]]), y0 = row[sends[i]] * HEIGHT + HEIGHT / 2, y1 = row[receives[i]] * HEIGHT + HEIGHT / 2;
    const angle = Math.atan2(y1 - y0, x1 - x0);
    draw.moveTo(x0, y0);
    draw.lineTo(x1, y1);
    for (const side of [-0.4, 0.4]) draw.moveTo(x1, y1), draw.lineTo(x1 - 7 * Math.cos(angle + side), y1 - 7 * Math.sin(angle + side));
  }
  draw.stroke();
  draw.restore();
};
const repaint = () => { if (!waiting) waiting = true, requestAnimationFrame(paint); };
const view = (a, b) => {
  const least = Math.min(whole, 20), span = Math.min(whole, Math.max(least, b - a)), middle = (a + b) / 2;
  low = Math.min(Math.max(0, middle - span / 2), whole - span), high = low + span;
  repaint();
};
const zoom = (factor, at) => view(at - (at - low) * factor, at + (high - at) * factor);
// ---- one task ----
const text = (tag, string, act) => {
  const e = document.createElement(tag);
  e.textContent = string;
  if (act) e.addEventListener('click', act);
  return e;
};
const named = n => n + ' ' + info.kinds[kind[n]].name;
const links = (label, list) => {
  const p = text('p', label + (list.length ? ' ' : ' none'));
  for (const n of list.slice(0, 20)) p.append(text('button', named(n), () => select(n, true)));
  if (list.length > 20) p.append(' and ' + (list.length - 20) + ' more');
  return p;
};
// The arguments of a task, each a line; they are read from the first task on.
const regionsOf = n => {
  if (n >= info.regions) return [];
  const r = reader('regions'), formals = info.kinds[kind[n]].formals.split(', ');
  for (let task = 0;; task++) {
    const lines = [];
    for (let i = 0, args = r.next(); i < args; i++) {
      const direction = r.next(), name = formals[i] || 'argument ' + (i + 1);
      if (direction === 5) { lines.push(name + ': a scalar'); continue; }
      const type = info.types[r.next()], heap = r.next(), tensor = info.tensors[r.next()], at = r.signed(), shape = [], strides = [];
      const rank = r.next();
      for (let d = 0; d < rank; d++) shape.push(r.signed());
      if (r.next()) for (let d = 0; d < rank; d++) strides.push(r.signed());
      const where = heap ? (tensor || 'a tensor of the heap') + (at ? ', from byte ' + at + ' on' : '') : at ? 'address 0x' + at.toString(16) : 'memory of the program';
      lines.push(['', 'in', 'out', 'inout', 'acc'][direction] + ' ' + name + ': ' + type + '[' + shape.join(', ') + ']' +
                 (strides.length ? ' with strides [' + strides.join(', ') + ']' : '') + ' at ' + where);
    }
    if (task === n) return lines;
  }
};
// The producer that ended last.
const latestBefore = n => {
  let latest;
  for (let e = firstEdge[n]; e < firstEdge[n + 1]; e++) if (latest === undefined || end[from[e]] > end[latest]) latest = from[e];
  return latest;
};
const select = (n, moves) => {
  selected = n, path = new Set();
  const box = $('task');
  box.replaceChildren();
  if (n < 0) { box.append(text('p', info.help)); repaint(); return; }
  const k = info.kinds[kind[n]], before = Array.from(from.subarray(firstEdge[n], firstEdge[n + 1])), behind = [];
  for (let e = firstEdge[n + 1], t = n + 1; e < from.length && behind.length < 1000; e++) {
    while (firstEdge[t + 1] <= e) t++;
    if (from[e] === n) behind.push(t);
  }
  for (let at = n; at !== undefined; at = latestBefore(at)) path.add(at);
  box.append(text('p', 'task ' + n + ': ' + k.name + (k.place ? ', ' + k.place : '') + (end[n] > 0 ? ', on ' + info.rows[row[n]] + ', from ' + shown(begin[n]) + ', for ' + shown(end[n] - begin[n]) : ', has not run')));
  for (const line of regionsOf(n)) box.append(text('p', line));
  box.append(links('waited for', before), links('was waited for by', behind));
  box.append(text('p', 'a path of ' + path.size + ' tasks back to the start: each behind the producer that ended last'));
  if (moves && (begin[n] < low || end[n] > high)) view(begin[n] - (high - low) / 2, begin[n] + (high - low) / 2);
  repaint();
};
const taskAt = (px, py) => {
  const r = Math.floor(py / HEIGHT), time = low + (px - LEFT) / scale();
  if (r < 0 || r >= rows || waitsOf[r] || px < LEFT) return -1;
  const i = search(lines[r], time - 1 / scale());
  return i < lines[r].length && lines[r].begin(i) <= time + 1 / scale() ? orders[r][i] : -1;
};
const find = () => {
  const wanted = $('find').value.trim();
  if (!wanted) return;
  if (/^[0-9]+$/.test(wanted)) { if (Number(wanted) < count) select(found = Number(wanted), true); return; }
  const fits = info.kinds.map(k => (k.name + ' ' + k.place).includes(wanted));
  for (let i = 1; i <= count; i++) if (fits[kind[(found + i) % count]]) { select(found = (found + i) % count, true); return; }
  select(-1);
};
const beside = by => {
  if (selected < 0) { const r = orders.findIndex(o => o.length > 0); if (r >= 0) select(orders[r][search(lines[r], low)] ?? orders[r][0], true); return; }
  const o = orders[row[selected]], i = o.indexOf(selected) + by;
  if (i >= 0 && i < o.length) select(o[i], true);
};
const toRow = by => {
  if (selected < 0) return beside(1);
  for (let r = row[selected] + by; r > 0 && r < rows; r += by)
    if (orders[r].length) { select(orders[r][Math.min(search(lines[r], begin[selected]), orders[r].length - 1)], true); return; }
};
const keys = {ArrowLeft: () => view(low - (high - low) / 8, high - (high - low) / 8), ArrowRight: () => view(low + (high - low) / 8, high + (high - low) / 8),
              '+': () => zoom(0.7, selected >= 0 ? begin[selected] : (low + high) / 2), '=': () => keys['+'](), '-': () => zoom(1 / 0.7, (low + high) / 2), Home: () => view(0, whole),
              n: () => beside(1), p: () => beside(-1), ArrowDown: () => toRow(1), ArrowUp: () => toRow(-1), Escape: () => select(-1), '/': () => $('find').focus()};
canvas.addEventListener('keydown', e => { if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) keys[e.key](), e.preventDefault(); });
canvas.addEventListener('wheel', e => { if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY)) zoom(Math.exp(e.deltaY / 500), low + (e.offsetX - LEFT) / scale()); else view(low + (e.deltaX || e.deltaY) / scale(), high + (e.deltaX || e.deltaY) / scale()); e.preventDefault(); }, {passive: false});
let drag = null;
canvas.addEventListener('pointerdown', e => { drag = {x: e.clientX, low, high, moved: false}; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener('pointermove', e => {
  if (!drag || Math.abs(e.clientX - drag.x) < 3 && !drag.moved) return;
  const by = (drag.x - e.clientX) / scale();
  drag.moved = true;
  view(drag.low + by, drag.high + by);
});
canvas.addEventListener('pointerup', e => { if (drag && !drag.moved) select(taskAt(e.offsetX, e.offsetY)); drag = null; });
$('find').addEventListener('keydown', e => { if (e.key === 'Enter') find(); if (e.key === 'Escape') canvas.focus(); });
window.addEventListener('resize', repaint);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
canvas.style.height = rows * HEIGHT + 18 + 'px';
select(-1);
paint();
