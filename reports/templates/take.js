// Every figure can be taken out of the page: as a picture, as its numbers, or read as a table.
(function () {
  "use strict";
  var WIDTH = 1000, HEIGHT = 560, MOST_ROWS = 500;

  function plain(text) { return String(text).replace(/<br>/g, " ").replace(/&lt;/g, "<").replace(/&amp;/g, "&"); }

  function axis(element, name) {
    var found = element.layout[name.replace(/^(.)/, "$1axis")] || {};
    return found.title && found.title.text ? plain(found.title.text) : name;
  }

  // What one trace contributes: its columns by name, in order. `meta` holds the data where the drawing shows
  // something else (exported.py): a place on an axis of names, a thinned error bar, an index into labels.
  function columnsOf(element, trace) {
    var meta = trace.meta || {}, names = element.layout.meta || {};
    if (meta.columns) { return meta.columns; }
    var x = names.x || axis(element, trace.xaxis || "x"), y = names.y || axis(element, trace.yaxis || "y");
    var found = {}, z = meta.z || trace.z, more = meta.more || {};
    function flat(grid) { return Array.prototype.concat.apply([], grid); }
    if (z) {
      var across = meta.x || trace.x || z[0].map(function (_, j) { return j; });
      var up = meta.y || trace.y || z.map(function (_, i) { return i; });
      found[x] = flat(z.map(function (line) { return line.map(function (_, j) { return across[j]; }); }));
      found[y] = flat(z.map(function (line, i) { return line.map(function () { return up[i]; }); }));
      found[names.value || "value"] = flat(z);
      Object.keys(more).forEach(function (name) { found[name] = flat(more[name]); });
      if (meta.low) { found.low = flat(meta.low); found.high = flat(meta.high); }
      return found;
    }
    found[x] = meta.x || trace.x || [];
    found[y] = meta.y || trace.y || [];
    Object.keys(more).forEach(function (name) { found[name] = more[name]; });
    if (meta.low) { found.low = meta.low; found.high = meta.high; }
    return found;
  }

  // The first line names the columns; then a row for each point: its series, its values, its interval.
  function rows(element) {
    var heads = [], parts = [], names = element.layout.meta || {};
    element.data.forEach(function (trace) {
      var meta = trace.meta || {};
      if (trace.visible === false || meta.decoration) { return; }
      var columns = columnsOf(element, trace), own = Object.keys(columns);
      var title = (names.y || axis(element, trace.yaxis || "y")).replace(/ \[.*/, "");
      parts.push({ series: plain(meta.series || trace.name || title), columns: columns, map: !!trace.z });
      own.forEach(function (name) { if (heads.indexOf(name) < 0) { heads.push(name); } });
    });
    ["low", "high"].forEach(function (end) {
      var at = heads.indexOf(end);
      if (at >= 0) { heads.push(heads.splice(at, 1)[0]); }
    });
    var found = [["series"].concat(heads.map(plain))];
    parts.forEach(function (part) {
      var own = Object.keys(part.columns);
      (part.columns[own[0]] || []).forEach(function (_, i) {
        var values = own.map(function (name) { return part.columns[name][i]; });
        // A line has no row where it has a gap; a map has one for each square.
        if (values[0] === null || (!part.map && own.length > 1 && values.every(function (value, k) {
          return !k || value === null || own[k] === "low" || own[k] === "high";
        }))) { return; }
        found.push([part.series].concat(heads.map(function (head) {
          return own.indexOf(head) < 0 ? "" : part.columns[head][i];
        })));
      });
    });
    return found.map(function (row) {
      return row.map(function (cell) { return typeof cell === "string" ? plain(cell) : cell; });
    });
  }

  // A text that a spreadsheet would take for a formula begins with an apostrophe.
  function cell(value) {
    var text = value === null || value === undefined ? "" : String(value);
    if (typeof value === "string" && /^[=+@\t\r-]/.test(text)) { text = "'" + text; }
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function save(address, name) {
    var link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
  }

  function csv(element) {
    var text = rows(element).map(function (row) { return row.map(cell).join(","); }).join("\n") + "\n";
    var address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    save(address, element.id + ".csv");
    window.setTimeout(function () { URL.revokeObjectURL(address); }, 1000);
  }

  function picture(element, format) {
    var layout = Object.assign({}, element.layout, { paper_bgcolor: "#ffffff" });
    var size = { format: format, width: WIDTH, height: HEIGHT, scale: format === "png" ? 2 : 1 };
    Plotly.toImage({ data: element.data, layout: layout }, size).then(function (address) {
      save(address, element.id + "." + format);
    });
  }

  function fill(table, element) {
    var found = rows(element), left = found.length - 1 - MOST_ROWS;
    table.textContent = "";
    found.slice(0, MOST_ROWS + 1).forEach(function (row, i) {
      var line = table.insertRow();
      row.forEach(function (value) {
        var place = document.createElement(i ? "td" : "th");
        place.textContent = value === null || value === undefined ? "" : value;
        if (!i) { place.scope = "col"; }
        if (typeof value === "string") { place.className = "text"; }
        line.appendChild(place);
      });
    });
    if (left > 0) { table.createCaption().textContent = left + " more rows are in the CSV."; }
  }

  document.querySelectorAll(".plot").forEach(function (element) {
    var line = element.parentNode.querySelector(".take"), data = element.parentNode.querySelector(".data");
    var of = ": " + element.getAttribute("aria-label");
    line.querySelectorAll("button").forEach(function (button) {
      button.setAttribute("aria-label", button.textContent + of);
      button.addEventListener("click", function () {
        if (button.textContent === "CSV") { csv(element); } else { picture(element, button.textContent.toLowerCase()); }
      });
    });
    data.addEventListener("toggle", function () { if (data.open) { fill(data.querySelector("table"), element); } });
    element.addEventListener("changed", function () { if (data.open) { fill(data.querySelector("table"), element); } });
  });
})();
