// What stands on the page becomes its address, and the server is asked again until the answer is at rest.
window.dash_clientside = window.dash_clientside || {};
(function () {
  "use strict";
  var AGAIN_MS = 150, before = null, last = null;

  function part(name, value) { return encodeURIComponent(name) + "=" + encodeURIComponent(value); }

  window.dash_clientside.live = {
    written: function (sliders, menus, of, against, variant, sliderIds, menuIds, places, file) {
      var skip = window.dash_clientside.no_update, known = {}, own = {}, now = [], parts = [];
      var on = Boolean(variant && variant.length);
      places.forEach(function (each) { known[each.field] = each; });
      var ids = sliderIds.concat(menuIds), values = sliders.concat(menus).map(Number);
      ids.forEach(function (id, i) { if (id.side === "a") { own[id.field] = values[i]; } });
      // A variant that is looked at for the first time is as the first.
      var turned = on && before === false;
      before = on;
      ids.forEach(function (id, i) {
        var each = known[id.field];
        if (id.side === "b" && turned && values[i] !== own[id.field]) {
          values[i] = own[id.field];
          window.dash_clientside.set_props(id, { value: own[id.field] });
        }
        if (id.side === "a" && values[i] !== each.start) { parts.push(part(id.field, each.texts[values[i]])); }
        if (id.side === "b" && on && values[i] !== own[id.field]) { now.push(part("if." + id.field, each.texts[values[i]])); }
      });
      if (!ids.length) { return [skip, []]; }
      if (of !== file) { parts.push(part("of", of)); }
      if (against && against !== places[0].field) { parts.push(part("against", against)); }
      if (on) { parts.push("if=1"); }
      document.body.classList.toggle("two", on);
      var query = parts.concat(now).join("&");
      window.history.replaceState(null, "", window.location.pathname + (query ? "?" + query : ""));
      if (last !== null && last !== query) { window.dash_clientside.set_props("refused", { children: "" }); }
      var changed = last !== query;
      last = query;
      return [changed ? query : skip, sliderIds.map(function (id, i) { return known[id.field].texts[values[i]]; })];
    },

    again: function (seen) {
      if (seen && !seen.rest) {
        window.setTimeout(function () { window.dash_clientside.set_props("tick", { data: { query: seen.query, at: Date.now() } }); }, AGAIN_MS);
      }
    }
  };
})();
