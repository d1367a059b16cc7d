// Draws every chart of the page from its numbers. A new chart needs new data, not new code here.
(() => {
  "use strict";
  const PALETTE = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6"].map((name) => `var(${name})`);
  const DASHES = ["none", "6 3", "2 3", "8 3 2 3", "1 4", "10 4"];
  // With more lines than colours the dashes move on, so that no two lines look alike.
  const dash = (i) => DASHES[(i + Math.floor(i / PALETTE.length)) % DASHES.length];
  const charts = JSON.parse(document.getElementById("charts").textContent);

  const real = (value) => (value === "inf" ? Infinity : value === "-inf" ? -Infinity : value === "nan" ? NaN : value);
  // Long names lose their middle: alike ones differ at the end more often than not.
  const short = (text, most) => {
    const head = Math.ceil((most - 1) * 0.6);
    return text.length > most ? text.slice(0, head) + "…" + text.slice(text.length - (most - 1 - head)) : text;
  };

  // Shares are written as percentages with three significant digits, everything else with four.
  const isShare = (axis) => Boolean(axis) && axis.form === "percent";
  const writer = (axis, digits = isShare(axis) ? 3 : 4) => {
    const form = new Intl.NumberFormat("en-GB", { style: isShare(axis) ? "percent" : "decimal", maximumSignificantDigits: digits });
    return (value) => (Number.isFinite(value) ? form.format(value) : value > 0 ? "unbounded" : "not measured");
  };
  const scale = (axis, more) => ({
    label: axis.label, type: axis.log ? "log" : "linear", tickFormat: writer(axis), labelArrow: "none", ...more,
  });
  // Counts have whole ticks: nobody is half a person.
  const ticksWithin = (low, high, most, counts) => d3.ticks(low, high, most).filter((tick) => !counts || Number.isInteger(tick));
  const areCounts = (axis, values) => !axis.log && !isShare(axis) && values.every(Number.isInteger);
  // As many digits as it takes to tell neighbouring ticks apart.
  const tickWriter = (axis, ticks) => {
    const differ = (write) => new Set(ticks.map(write)).size === ticks.length;
    const digits = d3.range(isShare(axis) ? 3 : 4, 17).find((most) => differ(writer(axis, most)));
    return writer(axis, digits);
  };
  const scaleAt = (axis, ticks, more) => scale(axis, { ticks, tickFormat: tickWriter(axis, ticks), ...more });
  const frame = (width, more) => ({
    width, marginTop: 26, marginBottom: 44, style: { fontSize: "12px", overflow: "visible" }, ...more,
  });

  // The limit: a dashed line and its name, kept inside the chart.
  const limitX = (chart, at, domain) => {
    if (!chart.threshold || !Number.isFinite(at)) return [];
    const right = at > (domain[0] + domain[1]) / 2;
    return [
      Plot.ruleX([at], { stroke: "var(--bad)", strokeWidth: 1.75, strokeDasharray: "5 3" }),
      Plot.text([chart.threshold.label], {
        x: [at], frameAnchor: "top", dy: -7, dx: right ? 4 : -4, textAnchor: right ? "end" : "start", lineAnchor: "bottom",
        fill: "var(--bad)", fontWeight: 600,
      }),
    ];
  };

  function histogram(chart, width) {
    const edges = chart.data.edges.map(real);
    const closed = edges.filter(Number.isFinite);
    const whole = closed.length > 1 && closed.every((edge, i) => Number.isInteger(edge) && (!i || edge - closed[i - 1] === 1));
    const open = edges.length > closed.length;
    const last = closed[closed.length - 1];
    const step = closed.length > 1 ? last - closed[closed.length - 2] : 1;
    const shift = whole ? -0.5 : 0;
    const limit = chart.threshold && real(chart.threshold.value);
    const side = chart.threshold && chart.threshold.side;
    const bins = chart.data.counts.map((count, i) => {
      const low = edges[i], high = edges[i + 1];
      const fails = (side === "at least" && high <= limit) || (side === "at most" && low > limit);
      return { low: low + shift, high: (Number.isFinite(high) ? high : last + 2 * step) + shift, count, fails };
    });
    const at = chart.threshold ? limit + (whole ? (side === "at most" ? 0.5 : -0.5) : 0) : NaN;
    const ends = [bins[0].low, bins[bins.length - 1].high];
    const reach = Number.isFinite(at) ? [Math.min(ends[0], at), Math.max(ends[1], at)] : ends;
    const marks = [
      Plot.rectY(bins, { x1: "low", x2: "high", y: "count", fill: (bin) => (bin.fails ? "var(--bad)" : "var(--c1)"), insetLeft: 0.5, insetRight: 0.5 }),
      Plot.ruleY([0], { stroke: "currentColor" }),
      ...limitX(chart, at, reach),
    ];
    const counts = areCounts(chart.x, closed);
    let ticks = ticksWithin(reach[0], open ? last : reach[1], Math.max(3, Math.floor(width / 75)), counts);
    if (whole && reach[1] - reach[0] < 2000) {
      const every = Math.ceil((reach[1] - reach[0]) / Math.max(3, Math.floor(width / 45)));
      ticks = d3.range(Math.ceil(reach[0]), open ? last : reach[1], 1).filter((tick) => tick % every === 0);
    }
    if (open) ticks = ticks.filter((tick) => tick < last - step);
    const x = scaleAt(chart.x, ticks, { domain: reach });
    if (open) {
      const write = tickWriter(chart.x, [...ticks, last]);
      x.ticks = [...ticks, last + step + shift];
      x.tickFormat = (tick) => (tick > last ? `${write(last)} +` : write(tick));
    }
    const highest = Math.max(1, ...chart.data.counts);
    return Plot.plot(frame(width, {
      height: 244, marginTop: chart.threshold ? 44 : 26, x, y: scaleAt(chart.y, ticksWithin(0, highest, 4, true), { domain: [0, highest], grid: true }), marks,
    }));
  }

  function bars(chart, width) {
    const values = chart.data.values.map(real);
    const most = Math.max(8, Math.floor(width / 22));
    const rows = chart.data.labels.map((label, i) => ({ label, value: values[i] }));
    const limit = chart.threshold ? real(chart.threshold.value) : NaN;
    const known = [...values, limit].filter(Number.isFinite);
    const bottom = chart.y.log ? Math.min(1, ...known.filter((value) => value > 0)) / 2 : Math.min(0, ...known);
    const top = Math.max(...known, bottom) > bottom ? Math.max(...known) : bottom + 1;
    const end = (row) => (Number.isNaN(row.value) ? bottom : Math.min(top, Math.max(bottom, row.value)));
    const side = chart.threshold && chart.threshold.side;
    const fails = (row) => (side === "at most" && row.value > limit) || (side === "at least" && row.value < limit);
    const write = writer(chart.y);
    const many = Math.max(2, Math.floor(width / 110));
    const margin = Math.min(width * 0.4, 14 + 7 * Math.max(...rows.map((row) => Math.min(most, row.label.length))));
    return Plot.plot(frame(width, {
      height: (chart.threshold ? 76 : 56) + 30 * rows.length, marginTop: chart.threshold ? 28 : 8, marginLeft: margin, marginRight: 56,
      x: chart.y.log
        ? scale(chart.y, { domain: [bottom, top], ticks: many, grid: true })
        : scaleAt(chart.y, ticksWithin(bottom, top, many, areCounts(chart.y, values)), { domain: [bottom, top], grid: true }),
      y: { label: null, domain: chart.data.labels, tickFormat: (label) => short(label, most), tickSize: 0, padding: 0.28 },
      marks: [
        Plot.barX(rows, { x1: chart.y.log ? bottom : 0, x2: end, y: "label", fill: (row) => (fails(row) ? "var(--bad)" : "var(--c1)") }),
        Plot.text(rows, {
          x: (row) => Math.max(end(row), chart.y.log ? bottom : 0), y: "label", text: (row) => write(row.value), textAnchor: "start", dx: 5,
          fill: "currentColor", stroke: "var(--paper)", strokeWidth: 4,
        }),
        Plot.ruleX([chart.y.log ? bottom : 0], { stroke: "currentColor" }),
        ...limitX(chart, limit, [bottom, top]),
      ],
    }));
  }

  // A logarithmic axis from one power of ten to another, a few of them named.
  const powers = (values) => {
    const ends = values.filter((value) => Number.isFinite(value) && value > 0).map(Math.log10);
    if (!ends.length) return { ticks: 4 };
    const low = Math.floor(Math.min(...ends)), high = Math.max(Math.ceil(Math.max(...ends)), low + 1);
    const step = Math.ceil((high - low) / 5);
    return { domain: [10 ** low, 10 ** high], ticks: d3.range(high, low - 1, -step).map((power) => 10 ** power) };
  };

  function lines(chart, width) {
    const marks = [];
    const limit = chart.threshold ? real(chart.threshold.value) : NaN;
    chart.data.forEach((line, i) => {
      const stroke = PALETTE[i % PALETTE.length];
      const points = line.x.map((x, j) => ({ x: real(x), y: real(line.y[j]), low: real(line.low[j]), high: real(line.high[j]), label: line.labels?.[j] }));
      const known = points.map((point) => (Number.isFinite(point.y) ? point : { ...point, y: NaN }));
      if (line.low.length) marks.push(Plot.areaY(known, { x: "x", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.16 }));
      marks.push(Plot.lineY(known, { x: "x", y: "y", stroke, strokeWidth: 2.25, strokeDasharray: dash(i) }));
      // A single point among curves is marked and named.
      if (points.length === 1 && chart.data.some((other) => other.x.length > 1)) marks.push(
        Plot.dot(known, { x: "x", y: "y", symbol: "diamond", fill: "var(--ink)", stroke: "var(--paper)", r: 8 }),
        Plot.text(known, { x: "x", y: "y", text: () => line.name, dy: -15, fill: "var(--ink)", fontWeight: 600, stroke: "var(--paper)", strokeWidth: 4 }),
      );
      // Dots that would touch each other hide their line and its dashes.
      else if (points.length * 26 < width) marks.push(Plot.dot(known, { x: "x", y: "y", fill: stroke, stroke: "var(--paper)", r: 4, title: line.labels ? "label" : undefined }));
    });
    if (Number.isFinite(limit)) {
      // Its name stands at the end where the curves leave more room.
      const gap = (end) => Math.min(...chart.data.filter((line) => line.y.length).map((line) => Math.abs(real(line.y.at(end)) - limit)));
      const side = gap(0) > gap(-1) ? "left" : "right";
      marks.push(
        Plot.ruleY([limit], { stroke: "var(--bad)", strokeWidth: 1.75, strokeDasharray: "5 3" }),
        Plot.text([chart.threshold.label], { y: [limit], frameAnchor: side, dy: -9, textAnchor: side === "left" ? "start" : "end", fill: "var(--bad)", fontWeight: 600, stroke: "var(--paper)", strokeWidth: 4 }),
      );
    }
    const xs = [...new Set(chart.data.flatMap((line) => line.x.map(real)))].sort((a, b) => a - b);
    const fits = xs.length * 48 < width;
    const within = ticksWithin(xs[0] ?? 0, xs[xs.length - 1] ?? 1, Math.max(2, width / 80), xs.every(Number.isInteger));
    const ys = chart.data.flatMap((line) => line.y.map(real)).filter(Number.isFinite);
    const heights = [0, ...ys, ...chart.data.flatMap((line) => [...line.low, ...line.high].map(real)), limit].filter(Number.isFinite);
    // An axis without a length would put a line of zeros in the middle of the chart.
    const domain = [Math.min(...heights), Math.max(...heights) > Math.min(...heights) ? Math.max(...heights) : 1];
    return Plot.plot(frame(width, {
      // Points that are named need room to be told apart.
      height: chart.data.some((line) => line.labels) ? 420 : 244, marginLeft: 52, marginRight: 16, inset: 6,
      x: chart.x.log ? scale(chart.x, { ticks: Math.max(2, Math.floor(width / 90)) }) : scaleAt(chart.x, fits ? xs : within),
      y: chart.y.log
        ? scale(chart.y, { grid: true, ...powers(ys) })
        : scaleAt(chart.y, ticksWithin(...domain, 4, areCounts(chart.y, ys)), { grid: true, domain }),
      marks: [...(chart.y.log ? [] : [Plot.ruleY([0], { stroke: "currentColor", strokeOpacity: 0.4 })]), ...marks],
    }));
  }

  function heatmap(chart, width) {
    const { rows, columns } = chart.data;
    const cells = chart.data.cells.flatMap((line, r) => line.map((value, c) => ({ row: rows[r], column: columns[c], value: real(value) })))
      .filter((cell) => !Number.isNaN(cell.value));
    const known = cells.map((cell) => cell.value).filter(Number.isFinite);
    const low = Math.min(0, ...known), high = Math.max(...known, low + 1e-12);
    const depth = (cell) => 5 + 95 * (Number.isFinite(cell.value) ? (cell.value - low) / (high - low) : cell.value > 0 ? 1 : 0);
    const most = Math.max(6, Math.floor(width / 40));
    const margin = Math.min(width * 0.35, 16 + 7 * Math.max(...rows.map((row) => Math.min(most, row.length))));
    const room = (width - margin - 20) / columns.length;
    const every = Math.ceil(34 / room);
    const write = writer(chart.value, room > 72 ? 3 : 2);
    return Plot.plot(frame(width, {
      height: 56 + Math.min(34, 420 / Math.max(1, rows.length) + 10) * rows.length, marginTop: 10, marginLeft: margin,
      x: { domain: columns, label: chart.x.label, labelArrow: "none", tickSize: 0, ticks: columns.filter((_, i) => i % every === 0), tickFormat: (text) => short(text, Math.max(3, Math.floor((room * every) / 7))) },
      y: { domain: rows, label: chart.y.label, labelArrow: "none", tickSize: 0, tickFormat: (text) => short(text, most) },
      marks: [
        Plot.cell(cells, { x: "column", y: "row", fill: { value: (cell) => `color-mix(in srgb, var(--heat) ${depth(cell)}%, var(--paper))`, scale: null }, inset: 0.75 }),
        ...(room > 44 && rows.length <= 20
          ? [Plot.text(cells, { x: "column", y: "row", text: (cell) => write(cell.value), fill: "var(--ink)" })]
          : []),
      ],
    }));
  }

  function legend(chart) {
    if (chart.kind !== "lines" || chart.data.length < 2) return null;
    const list = document.createElement("ul");
    list.className = "legend";
    chart.data.forEach((line, i) => {
      const item = document.createElement("li");
      const key = d3.create("svg").attr("viewBox", "0 0 28 12");
      key.append("line").attr("x1", 0).attr("x2", 28).attr("y1", 6).attr("y2", 6).attr("stroke-width", 2.5)
        .attr("stroke", PALETTE[i % PALETTE.length]).attr("stroke-dasharray", dash(i));
      item.append(key.node(), line.name);
      list.append(item);
    });
    return list;
  }

  const kinds = { histogram, bars, lines, heatmap };
  function draw(place, width) {
    const chart = charts[Number(place.dataset.chart)];
    const drawn = kinds[chart.kind](chart, width);
    drawn.setAttribute("aria-hidden", "true");
    place.replaceChildren(...[legend(chart), drawn].filter(Boolean));
  }

  const places = [...document.querySelectorAll(".plot")];
  const drawAll = () => places.forEach((place) => draw(place, Math.max(240, Math.floor(place.clientWidth))));
  let width = 0;
  new ResizeObserver(() => {
    if (document.body.clientWidth === width || matchMedia("print").matches) return;
    width = document.body.clientWidth;
    drawAll();
  }).observe(document.body);
  drawAll();
  width = document.body.clientWidth;
  // On paper two charts share a line; drawn for that width, their labels stay readable.
  addEventListener("beforeprint", () => places.forEach((place) => draw(place, getComputedStyle(place.parentElement).gridColumnEnd === "-1" ? 680 : 330)));
  addEventListener("afterprint", drawAll);
})();
