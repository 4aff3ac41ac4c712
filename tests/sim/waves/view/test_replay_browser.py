"""The replay as it is used: opened from disk in Chromium, clicked through, and held against the history."""

import json
import os
import shutil
import time
from dataclasses import replace

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from wormcast.sim.waves.view import RecordedBuffer, RecordedChunk, RecordedReading
from wormcast.sim.waves.view.descriptions import milestones
from wormcast.sim.waves.view.replay import write_replay

from .made import crossing, figure_4, short_worms

pytestmark = pytest.mark.browser

SHOWN = """
const all = (layer, ...names) => [...document.querySelectorAll(`#layer-${layer} g`)].map(
  (one) => [Number(one.dataset.worm), ...names.map((name) => one.dataset[name])]);
return {holds: all("holds", "track"), flits: all("flits", "track"), waits: all("waits", "waits")};
"""


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, driven by its own driver."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert program, "there is no chromium on the path: install Debian's package chromium"
    assert driver, "there is no chromedriver on the path: install Debian's package chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for option in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000"):
        options.add_argument(option)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # root has none
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as opened:
        yield opened


class Page:
    """A page of a history in a browser; what it logged and asked for is looked at when it is left."""

    def __init__(self, browser, history, file):
        self.browser, self.history = browser, history
        write_replay(history, file)
        self.url = file.as_uri()
        browser.get_log("performance")
        browser.get(self.url)

    def click(self, name):
        self.browser.find_element(By.ID, name).click()

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    @property
    def cycle(self):
        return int(self.browser.find_element(By.ID, "cycle").text.removeprefix("cycle "))

    def texts(self, selector):
        return self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def tracks(self, selector):
        return {*self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.dataset.track)", selector)}

    def middles(self, selector):
        """Middle of each thing on the screen, x and y in pixels, with the track that its group is of."""
        return self.browser.execute_script(
            """return [...document.querySelectorAll(arguments[0])].map((one) => {
                 const {x, y, width, height} = one.getBoundingClientRect();
                 return [one.parentNode.dataset.track, x + width / 2, y + height / 2];
               })""", selector)

    def require_truth(self):
        """Assert that the picture shows the history in the displayed cycle."""
        now, history = self.cycle, self.history
        holds = [hold for hold in history.holds if hold.first <= now <= hold.last]
        shown = self.browser.execute_script(SHOWN)
        assert sorted(shown["holds"]) == sorted([hold.worm, history.channel_name(hold.link, hold.vc)] for hold in holds)
        assert sorted(shown["flits"]) == sorted([hold.worm, history.channel_name(hold.link, hold.vc)] for hold in holds
                                                if now in hold.flits)
        assert sorted(shown["waits"]) == sorted(
            [wait.worm, "|".join(map(history.resource_name, wait.resources))] for wait in history.waits
            if wait.first <= now <= wait.last)

    def require_quiet(self):
        """Nothing went wrong, and nothing but the page itself was asked for."""
        assert self.browser.get_log("browser") == []
        messages = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        asked = {message["params"]["request"]["url"] for message in messages
                 if message["method"] == "Network.requestWillBeSent"}
        assert asked <= {self.url, "data:,"}
        assert self.url in asked


@pytest.fixture
def deadlock(browser, tmp_path):
    page = Page(browser, figure_4(), tmp_path / "figure4.html")
    yield page
    page.require_quiet()


@pytest.fixture
def crowd(browser, tmp_path):
    page = Page(browser, crossing("mesh:8x8", 30), tmp_path / "8x8.html")
    yield page
    page.require_quiet()


def test_buttons_and_keys_step_through_all_of_it(deadlock):
    assert deadlock.cycle == 3
    deadlock.require_truth()
    for name, cycle in (("first", 0), ("forward", 1), ("forward", 2), ("back", 1), ("last", 39), ("forward", 39),
                        ("first", 0), ("back", 0), ("next", 12), ("next", 39), ("before", 12), ("before", 0)):
        deadlock.click(name)
        assert deadlock.cycle == cycle
        deadlock.require_truth()
    for key, cycle in ((Keys.ARROW_RIGHT, 1), (Keys.ARROW_RIGHT, 2), (Keys.ARROW_LEFT, 1), (Keys.END, 39),
                       (Keys.HOME, 0), ("n", 12), ("p", 0)):
        deadlock.press(key)
        assert deadlock.cycle == cycle
        deadlock.require_truth()
    ActionChains(deadlock.browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT).key_up(Keys.SHIFT).perform()
    assert deadlock.cycle == 10


def test_every_cycle_of_a_deadlock_is_shown_as_it_was(deadlock):
    for _ in range(20):
        deadlock.require_truth()
        deadlock.press(Keys.ARROW_RIGHT)


def test_circle_of_a_deadlock_is_shown_from_when_it_closes(deadlock):
    """Both headers wait from cycle 12 on."""
    def told():
        return [item.text.splitlines()[0] for item in deadlock.browser.find_elements(By.CSS_SELECTOR, "#deadlock li")
                if item.is_displayed()]

    deadlock.click("first")
    for _ in range(11):
        deadlock.click("forward")
    assert told() == []
    assert deadlock.tracks(".ring[data-track]") == set()
    all_told = [f"{words} {cycle}" for words, cycle, _ in milestones(deadlock.history)]
    for name, number in (("forward", 1), ("last", 3)):
        deadlock.click(name)
        assert told() == all_told[:number]
        assert deadlock.tracks(".ring[data-track]") == {"link:0.1>0.2:0", "link:0.2>0.1:0", "cons:0.1:0", "cons:0.2:0"}
        assert len(deadlock.browser.find_elements(By.CSS_SELECTOR, "#layer-waits .circle .arrow")) == 2
    assert deadlock.texts("#worms .now") == ["waits at 0.2 for cons:0.2:0 (worm 1)",
                                             "waits at 0.1 for cons:0.1:0 (worm 0)"]
    assert len(deadlock.browser.find_elements(By.CSS_SELECTOR, "#layer-holds .still")) == len(deadlock.history.holds)


def test_wait_for_graph_leads_from_each_worm_to_the_holder_of_its_channel(deadlock):
    def arrows(selector=""):
        return deadlock.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => [one.dataset.from, one.dataset.to, "
            "one.querySelector('text').textContent])", f"#waits g[data-from]{selector}")

    graph = deadlock.browser.find_element(By.ID, "waits")
    deadlock.click("first")
    assert arrows() == []
    assert graph.accessible_name == "no worm waits"
    deadlock.click("last")
    assert arrows() == arrows(".knot") == [["0", "1", "cons:0.2:0"], ["1", "0", "cons:0.1:0"]]
    assert graph.accessible_name == ("worm 0 waits for cons:0.2:0, held by worm 1; "
                                     "worm 1 waits for cons:0.1:0, held by worm 0")


def test_a_worm_that_fills_a_buffer_is_waited_for(browser, tmp_path):
    """Its tail has released the link, so that nobody holds it: in the deadlock it counts as the worm's."""
    page = Page(browser, short_worms(), tmp_path / "short.html")
    page.press(Keys.END)
    words = "; ".join(f"worm {worm} waits for link:{(worm + 1) % 4}>{(worm + 2) % 4}:0, held by worm {(worm + 1) % 4}"
                      for worm in range(4))
    assert browser.find_element(By.ID, "waits").accessible_name == words
    assert len(browser.find_elements(By.CSS_SELECTOR, "#waits .knot")) == 4
    assert page.tracks("#layer-ring .ring") == {f"link:{worm}>{(worm + 1) % 4}:0" for worm in range(4)}
    assert page.texts("#worms .now")[0] == "waits at 1 for link:1>2:0 (worm 1)"
    page.press("p")
    page.press(Keys.ARROW_LEFT)
    assert "held by" not in browser.find_element(By.ID, "waits").accessible_name
    page.require_quiet()


def test_slots_fill_in_the_order_of_arrival_and_credits_are_counted(browser, tmp_path):
    """Flits of worm 0 are on the link 0.0>0.1 in cycles 6 to 9 and 12 to 15."""
    history = figure_4()
    row = next(row for row, link in enumerate(history.links) if link.name == "link:0>1")
    buffer = RecordedBuffer(row, 0, ((0, 0), (7, 1), (8, 2), (12, 1), (14, 4)), ((0, 0), (7, 1), (14, 4)))
    page = Page(browser, replace(history, buffers=(buffer,)), tmp_path / "slots.html")
    slots = "#layer-slots g[data-track='link:0.0>0.1:0'] rect"
    seen = {}
    for _ in range(15):
        seen[page.cycle] = browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.classList.value)", slots)
        page.press(Keys.ARROW_RIGHT)
    assert seen[6] == ["slot"] * 4
    assert seen[7] == ["slot full c0 lead", *["slot"] * 3]
    assert seen[8] == ["slot full c0 lead", "slot full c0", *["slot"] * 2]
    assert seen[12] == ["slot full c0", *["slot"] * 3]
    assert seen[15] == ["slot full c0"] * 4
    [credit] = browser.find_elements(By.CSS_SELECTOR, ".credit[data-track]")
    assert not credit.is_displayed()
    page.press("c")
    assert (credit.is_displayed(), credit.text) == (True, "0")
    page.click("first")
    assert credit.text == "4"
    page.require_quiet()


def test_projector_has_large_type_and_few_panels(deadlock):
    def height(name):
        return deadlock.browser.find_element(By.ID, name).size["height"]

    size = "return parseFloat(getComputedStyle(document.getElementById('cycle')).fontSize)"
    small, network = deadlock.browser.execute_script(size), height("network")
    deadlock.press("l")
    assert deadlock.browser.execute_script(size) > 1.5 * small
    shown = {name: deadlock.browser.find_element(By.ID, name).is_displayed() for name in (
        "network", "waits", "deadlock", "play", "list", "legend", "told")}
    assert [name for name, there in shown.items() if there] == ["network", "waits", "deadlock", "play"]
    assert height("network") >= network
    deadlock.press("l")
    assert deadlock.browser.find_element(By.ID, "list").is_displayed()


def test_keys_change_the_speed(deadlock):
    speed = Select(deadlock.browser.find_element(By.ID, "speed"))
    for key, cycles in (("+", "8"), ("+", "16"), ("-", "8"), *[("-", None)] * 9, ("-", "1"), *[("+", None)] * 9,
                        ("+", "60")):
        deadlock.press(key)
        assert cycles in (None, speed.first_selected_option.text)


def test_worms_network_and_graph_are_above_the_fold_of_a_small_window(browser, tmp_path):
    browser.set_window_size(1024, 600)
    try:
        page = Page(browser, figure_4(), tmp_path / "small.html")
        page.click("last")
        high = browser.execute_script("return innerHeight")
        for selector in ("#network", "#worms tr:last-child", "#waits > g:last-child", "#deadlock"):
            box = browser.execute_script("return document.querySelector(arguments[0]).getBoundingClientRect()",
                                         selector)
            assert 0 < box["top"] < box["bottom"] <= high, selector
        page.require_quiet()
    finally:
        browser.set_window_size(1400, 1000)


def test_notes_change_with_the_cycle_and_the_address_opens_at_one(browser, tmp_path):
    file = tmp_path / "lesson.html"
    page = Page(browser, figure_4(), file)
    assert not browser.find_element(By.ID, "note").is_displayed()
    write_replay(figure_4(), file, title="A lesson", notes=((0, "first"), (12, "second <b>")))
    browser.get(f"{page.url}#11,projector")
    browser.refresh()
    assert page.texts("#title, #note") == ["A lesson", "first"]
    assert page.cycle == 11
    assert not browser.find_element(By.ID, "list").is_displayed()
    page.click("forward")
    assert page.texts("#note") == ["second <b>"]


def test_slider_goes_to_any_cycle(crowd):
    slider = crowd.browser.find_element(By.ID, "time")
    for share in (0.25, 0.5, 0.9):
        ActionChains(crowd.browser).move_to_element_with_offset(
            slider, int((share - 0.5) * slider.size["width"]), 0).click().perform()
        assert crowd.cycle == pytest.approx(share * crowd.history.end, abs=0.03 * crowd.history.end)
        crowd.require_truth()
    assert slider.get_attribute("aria-valuetext") == f"cycle {crowd.cycle} of {crowd.history.end - 1}"


def test_it_plays_and_pauses(crowd):
    Select(crowd.browser.find_element(By.ID, "speed")).select_by_visible_text("32")
    play = crowd.browser.find_element(By.ID, "play")
    crowd.click("first")
    play.click()
    started = time.monotonic()
    WebDriverWait(crowd.browser, 10, 0.05).until(lambda _: crowd.cycle >= 20)
    assert play.text == "Pause"
    crowd.press(Keys.ESCAPE)
    play.click()
    assert 20 <= crowd.cycle <= 2 + 40 * (time.monotonic() - started)
    assert play.text == "Play"
    stopped = crowd.cycle
    crowd.require_truth()
    time.sleep(0.1)
    assert crowd.cycle == stopped


def test_flits_of_a_link_lie_between_its_routers(crowd):
    crowd.browser.execute_script("location.hash = '60'; location.reload()")
    WebDriverWait(crowd.browser, 10, 0.05).until(lambda _: crowd.cycle == 60)
    places = {crowd.history.topology.node_name(node): (x, y)
              for node, (_, x, y) in enumerate(crowd.middles("#layer-ground .router"))}
    flits = [flit for flit in crowd.middles("#layer-flits rect") if ">" in flit[0]]
    assert len(flits) > 10
    cell = places["0.1"][0] - places["0.0"][0]
    for track, x, y in flits:
        start, end = track.split(":")[1].split(">")
        assert x == pytest.approx((places[start][0] + places[end][0]) / 2, abs=cell / 5)
        assert y == pytest.approx((places[start][1] + places[end][1]) / 2, abs=cell / 5)


def test_a_click_on_a_worm_shows_its_path(crowd):
    worm = crowd.history.worms[13]
    button = crowd.browser.find_element(By.CSS_SELECTOR, "#worms tr[data-worm='13'] button")
    for held in (True, False):
        button.click()
        path = {crowd.history.channel_name(hold.link, hold.vc) for hold in crowd.history.holds if hold.worm == 13}
        assert crowd.tracks("#layer-path path") == (path if held else set())
        assert button.get_attribute("aria-pressed") == str(held).lower()
        assert len(crowd.texts("#layer-badges text")) == held * (1 + len(worm.destinations))


def test_list_tells_when_each_worm_is_ejected(crowd):
    delivered = {hold.worm: hold.last for hold in crowd.history.deliveries}
    numbers = [*crowd.history.worms]
    crowd.click("last")
    assert crowd.texts("#worms small") == [f"✓ {delivered[number]}" for number in numbers]
    assert set(crowd.texts("#worms .now")) == {"ejected"}
    crowd.click("first")
    assert set(crowd.texts("#worms small")) == {""}


def test_three_dimensions_and_dark(browser, tmp_path):
    colour = "return getComputedStyle(document.body).backgroundColor"
    page = Page(browser, crossing("mesh:3x3x3", 8), tmp_path / "3x3x3.html")
    light = browser.execute_script(colour)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        assert browser.execute_script(colour) != light
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    for _ in range(10):
        page.click("next")
        page.require_truth()
    page.require_quiet()


@pytest.mark.parametrize("name", ["torus:4x4", "min:b=2,stages=3,kind=omega", "irregular:switches=6,nodes=12",
                                  "ring:6"])
def test_every_kind_of_network_is_replayed(browser, tmp_path, name):
    history = crossing(name, 12)
    page = Page(browser, history, tmp_path / "kind.html")
    network, twice = history.topology, name.startswith("min")
    for selector, number in ((".router", network.switches), (".host", network.nodes * (1 + twice)),
                             (".received", network.nodes)):
        found = browser.find_elements(By.CSS_SELECTOR, f"#network {selector}")
        assert len(found) == number
    for _ in range(12):
        page.click("next")
        page.require_truth()
    tracks = page.middles("#layer-flits rect")
    stage = browser.find_element(By.ID, "network").rect
    assert all(stage["x"] <= x <= stage["x"] + stage["width"] for _, x, _ in tracks)
    worm = next(iter(history.worms.values()))
    browser.find_element(By.CSS_SELECTOR, f"#worms tr[data-worm='{worm.number}'] button").click()
    assert page.texts("#layer-badges text") == ["S", "1"]
    page.click("last")
    received = [text for text in page.texts("#layer-hosts .received") if text]
    assert set(received) <= {str(number) for number in history.worms}
    assert len(received) == len({worm.destinations[0] for worm in history.worms.values()})
    page.require_quiet()


def with_buffers(history):
    """The history, with an empty buffer at the end of each channel into a router."""
    rows = [row for row, link in enumerate(history.links) if link.kind != "consumption"]
    buffers = tuple(RecordedBuffer(row, vc, ((0, 0),), ((0, 0),)) for row in rows for vc in range(2)
                    if vc < history.links[row].vcs)
    return replace(history, buffers=buffers)


def boxes(browser, selector):
    return browser.execute_script(
        """return [...document.querySelectorAll(arguments[0])].map((one) => {
             const {left, right, top, bottom} = one.getBoundingClientRect();
             return [left, right, top, bottom];
           })""", selector)


def meet(one, other, least=1):
    return (min(one[1], other[1]) - max(one[0], other[0]) > least
            and min(one[3], other[3]) - max(one[2], other[2]) > least)


@pytest.mark.parametrize("name", ["cmesh:2x2x2", "fat-tree:k=2,levels=3"])
def test_names_are_clear_of_buffers_and_credits(browser, tmp_path, name):
    page = Page(browser, with_buffers(crossing(name, 8)), tmp_path / "names.html")
    page.press("c")
    names, drawn = boxes(browser, "#network .name"), boxes(browser, "#network .slot, #network .credit")
    assert len(names) > 8
    assert len(drawn) > 100
    assert not [(one, other) for one in names for other in drawn if meet(one, other, least=3)]
    page.require_quiet()


def test_a_large_network_is_not_cut_off_in_a_small_window(browser, tmp_path):
    browser.set_window_size(1024, 800)
    try:
        page = Page(browser, with_buffers(crossing("dragonfly:p=2,a=2,h=1", 8)), tmp_path / "wide.html")
        [stage] = boxes(browser, "#stage")
        for box in boxes(browser, "#network .host, #network .router"):
            assert stage[0] <= box[0] < box[1] <= stage[1]
        page.require_quiet()
    finally:
        browser.set_window_size(1400, 1000)


def test_words_of_the_wait_for_graph_are_not_on_its_arrows(deadlock):
    deadlock.click("last")
    points = deadlock.browser.execute_script(
        """return [...document.querySelectorAll("#waits .edge")].flatMap((one) => [...Array(50).keys()].map((step) => {
             const {x, y} = one.getPointAtLength(step / 49 * one.getTotalLength()).matrixTransform(one.getScreenCTM());
             return [x, x, y, y];
           }))""")
    words = boxes(deadlock.browser, "#waits .what")
    assert len(words) == 2
    assert not [point for point in points for word in words if meet(point, word, least=-1)]


def test_arcs_of_a_torus_are_on_the_page(browser, tmp_path):
    page = Page(browser, crossing("torus:4x4", 12), tmp_path / "torus.html")
    tracks = browser.execute_script("return model.tracks.map((track) => [track.name, track.points.length])")
    ways = [way for way in tracks if way[0].startswith("link:")]
    assert {name.rpartition(":")[0] for name, points in ways if points > 2} >= {"link:0.0>0.3", "link:3.2>0.2"}
    assert sum(points > 2 for _, points in ways) == 2 * 16  # two virtual channels of each link around an edge
    page.require_quiet()


def test_controls_have_names(crowd):
    for one in crowd.browser.find_elements(By.CSS_SELECTOR, "button, input, select, svg[role]"):
        assert one.accessible_name


def test_rows_of_deep_switches_are_listed_as_they_fill_and_are_fetched(browser, tmp_path):
    chunk = RecordedChunk("s0", "n0", 2, 1, 4, 20, freed=True, flits=((4, 1), (5, 2)), counts=((8, 2), (12, 1)),
                          fetches=((11, "p0"), (20, "p1")))
    reading = RecordedReading("s0", "p0", "n0", 2, 1, 12, 14, ((12, 0), (13, 1)), follows=False)
    page = Page(browser, replace(figure_4(), chunks=(chunk,), readings=(reading,)), tmp_path / "rows.html")
    shown = {}
    for _ in range(20):
        shown[page.cycle] = page.texts("#rows td")
        page.press(Keys.ARROW_RIGHT)
    assert browser.find_element(By.ID, "buffers").is_displayed()
    told = {3: [], 4: ["2+1"], 5: ["2+2"], 8: ["2:2"], 11: ["2:2 → p0"], 12: ["2:1", "p0 2.0"], 14: ["2:1", "p0 2.1"],
            15: ["2:1"], 20: ["2:1 → p1"], 21: []}
    for cycle, words in told.items():
        texts = [text.strip() for text in shown[cycle]]
        assert texts == (["s0.n0", *words, *[""] * (2 - len(words))] if words else []), cycle
    page.require_quiet()


def test_a_page_without_deep_switches_has_no_list_of_rows(deadlock):
    assert not deadlock.browser.find_element(By.ID, "buffers").is_displayed()
