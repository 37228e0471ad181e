// What stands on the page becomes its address, and the server is asked again until the answer is at rest.
window.dash_clientside = window.dash_clientside || {};
(function () {
  "use strict";
  var AGAIN_MS = 150, LOST_MS = 1500, before = null, last = null, rest = null, asked = 0, placed = false;

  function part(name, value) { return encodeURIComponent(name) + "=" + encodeURIComponent(value); }

  // Put a slider or a menu at a place.
  function choose(id, place) {
    if (id.kind === "slider") { window.dash_clientside.set_props(id, { value: place }); return; }
    window.dash_clientside.set_props(id, { data: String(place) });
    document.querySelectorAll("select").forEach(function (select) {
      var its = JSON.parse(select.id);
      if (its.field === id.field && its.side === id.side) { select.value = String(place); }
    });
  }

  // Say where a slider is, without the way through Dash, which takes tens of milliseconds.
  function tell(id, text) {
    var its = { field: id.field, kind: "shown", side: id.side };
    document.getElementById(JSON.stringify(its)).textContent = text;
  }

  window.dash_clientside.live = {
    written: function (sliders, menus, variant, sliderIds, menuIds, places, file) {
      var skip = window.dash_clientside.no_update, known = {}, own = {}, now = [], parts = [], on = Boolean(variant), against;
      // A variant that is looked at for the first time is as the first.
      var turned = on && before === false;
      before = on;
      places.forEach(function (each) { known[each.field] = each; });
      var ids = sliderIds.concat(menuIds), values = sliders.concat(menus);
      if (!places.length) { return skip; }
      ids.forEach(function (id, i) {
        if (id.side === "a") { own[id.field] = Number(values[i]); }
      });
      ids.forEach(function (id, i) {
        var each = known[id.field], value = Number(values[i]);
        if (id.side === "page") {
          if (id.field === "against") { against = values[i]; return; }
          if (values[i] !== file) { parts.push(part(id.field, values[i])); }
        } else if (id.side === "a") {
          if (value !== each.start) { parts.push(part(id.field, each.texts[value])); }
        } else if (turned && value !== own[id.field]) {
          choose(id, own[id.field]);
          values[i] = own[id.field];
        } else if (on && value !== own[id.field]) {
          now.push(part("if." + id.field, each.texts[value]));
        }
      });
      against = against || new URLSearchParams(window.location.search).get("against");
      if (against && against !== places[0].field) { parts.push(part("against", against)); }
      if (on) { parts.push("if=1"); }
      document.body.classList.toggle("two", on);
      var query = parts.concat(now).join("&"), changed = last !== query;
      window.history.replaceState(null, "", window.location.pathname + (query ? "?" + query : ""));
      if (last !== null && changed) { window.dash_clientside.set_props("refused", { children: "" }); }
      last = query;
      asked = Date.now();
      sliderIds.forEach(function (id, i) { tell(id, known[id.field].texts[values[i]]); });
      return changed ? query : skip;
    },

    toggled: function (clicks, variant) {
      if (clicks) { window.dash_clientside.set_props("variant", { data: !variant }); }
    },

    // The figures come after the first number.
    first: function (seen) {
      if (seen && !placed) {
        placed = true;
        window.dash_clientside.set_props("place", { data: seen.query });
      }
    },

    again: function (drawn) {
      if (!drawn) { return; }
      rest = drawn.rest ? drawn.query : null;
      if (!drawn.rest) { window.setTimeout(ask, AGAIN_MS); }
    }
  };

  function ask() {
    asked = Date.now();
    window.dash_clientside.set_props("tick", { data: { query: last, at: asked } });
  }

  // Dash drops answers that others overtake: what is not at rest is asked about again.
  window.setInterval(function () {
    if (placed && rest !== last && Date.now() - asked > LOST_MS) { ask(); }
  }, LOST_MS);

  // Menus are the browser's own, which Dash does not listen to: what is chosen is put into the store beside.
  document.addEventListener("change", function (event) {
    if (event.target.tagName !== "SELECT") { return; }
    var id = JSON.parse(event.target.id);
    window.dash_clientside.set_props({ field: id.field, kind: "menu", side: id.side }, { data: event.target.value });
  });
})();
