// Parts of the page that change while it is open. Without scripts the page
// loads itself again.
"use strict";
(function () {
	var state = document.getElementById("state");
	var source = new EventSource(document.body.dataset.live);

	source.onopen = function () {
		state.textContent = "live";
	};
	source.onerror = function () {
		state.textContent = "out of reach";
	};
	// "id\nhtml" of one element, rendered and escaped by the controller.
	source.addEventListener("part", function (event) {
		var end = event.data.indexOf("\n");
		var old = document.getElementById(event.data.slice(0, end));
		var within = old && old.contains(document.activeElement) ?
			document.activeElement.getAttribute("href") : null;
		var bottom = old && old.scrollTop + old.clientHeight >=
			old.scrollHeight - 4, id = old && old.id;

		if (!old)
			return;
		old.outerHTML = event.data.slice(end + 1);
		old = document.getElementById(id);
		if (bottom)
			old.scrollTop = old.scrollHeight;
		if (id === "main")
			show_end();
		if (within)
			[old].concat(Array.from(old.querySelectorAll("a")))
				.forEach(function (a) {
					if (a.getAttribute("href") === within)
						a.focus();
				});
	});
	// Other parts than those that are shown, and too many to be sent.
	source.addEventListener("reload", function () {
		source.close();
		location.reload();
	});
	function show_end() {
		var log = document.getElementById("output");
		var at = log && log.querySelector("mark");

		if (at)
			log.scrollTop = at.offsetTop - log.offsetTop -
				log.clientHeight / 2;
		else if (log)
			log.scrollTop = log.scrollHeight;
	}
	show_end();
})();
