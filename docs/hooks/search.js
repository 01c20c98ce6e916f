// Search without a worker: lunr and the index are loaded as scripts, once something is looked for.
document.addEventListener("DOMContentLoaded", function () { // the box stands below the scripts
  "use strict";
  var input = document.getElementById("mkdocs-search-query");
  var results = document.getElementById("mkdocs-search-results");
  var pages = {}, index = null, loading = false;

  function load(name, then) {
    var script = document.createElement("script");
    script.src = base_url + "/search/" + name;
    script.onload = then;
    document.head.appendChild(script);
  }

  function build() {
    index = lunr(function () {
      this.ref("location");
      this.field("title", { boost: 10 });
      this.field("text");
      search_index.docs.forEach(function (page) {
        pages[page.location] = page;
        this.add(page);
      }, this);
    });
    show();
  }

  function found(query) {
    try {
      return index.search(query);
    } catch (error) { // of a query that lunr cannot read
      return [];
    }
  }

  function article(page) {
    var made = document.createElement("article"), link = document.createElement("a");
    link.href = base_url + "/" + page.location;
    link.textContent = page.title;
    made.appendChild(document.createElement("h3")).appendChild(link);
    made.appendChild(document.createElement("p")).textContent = page.text.slice(0, 200);
    return made;
  }

  function show() {
    var query = input.value.trim();
    if (query.length < 2) {
      results.replaceChildren();
    } else if (index) {
      var articles = found(query).slice(0, 50).map(function (one) { return article(pages[one.ref]); });
      results.replaceChildren.apply(results, articles.length ? articles : ["No results found"]);
    } else if (!loading) {
      loading = true;
      load("lunr.js", function () { load("search_index.js", build); });
    }
  }

  if (input && results) {
    input.addEventListener("input", show);
    input.closest("form").addEventListener("submit", function (event) { event.preventDefault(); });
  }
});
