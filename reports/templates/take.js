// Every figure can be taken out of the page: as a picture, as its numbers, or read as a table.
(function () {
  "use strict";
  var WIDTH = 1000, HEIGHT = 560, MOST_ROWS = 500;

  function plain(text) { return String(text).replace(/<br>/g, " ").replace(/&lt;/g, "<").replace(/&amp;/g, "&"); }

  function axis(element, name) {
    var found = element.layout[name.replace(/^(.)/, "$1axis")] || {};
    return found.title && found.title.text ? plain(found.title.text) : name;
  }

  // The ends of error bars, by point.
  function ends(bars, middle, i) {
    if (!bars || !bars.array || bars.visible === false) { return ["", ""]; }
    var below = bars.symmetric === false || bars.arrayminus ? bars.arrayminus : bars.array;
    return [middle - below[i], middle + bars.array[i]];
  }

  // A row for each point that is shown: its trace, where it is, and the interval around it.
  function rows(element) {
    var shown = element.data.filter(function (trace) { return trace.visible !== false && trace.type !== "splom"; });
    var first = shown[0] || {}, deep = shown.some(function (trace) { return trace.z; });
    var bars = shown.some(function (trace) { return (trace.error_y || trace.error_x || {}).array; });
    var head = ["series", axis(element, first.xaxis || "x"), axis(element, first.yaxis || "y")];
    var found = [head.concat(deep ? ["value"] : [], bars ? ["low", "high"] : [])];
    shown.forEach(function (trace, k) {
      var name = plain(trace.name || "trace " + (k + 1));
      if (trace.z) {
        trace.z.forEach(function (line, i) {
          line.forEach(function (z, j) { found.push([name, trace.x ? trace.x[j] : j, trace.y ? trace.y[i] : i, z]); });
        });
        return;
      }
      (trace.y || trace.x || []).forEach(function (_, i) {
        var x = trace.x ? trace.x[i] : "", y = trace.y ? trace.y[i] : "";
        if (x === null || y === null) { return; }
        found.push([name, x, y].concat(deep ? [""] : [], bars ? trace.error_x ? ends(trace.error_x, x, i) : ends(trace.error_y, y, i) : []));
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
