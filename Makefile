# run: start the app. test: everything. coverage: which lines they reach.
# check: style and types. bench: how fast, as ratios.
PY := .venv/bin/python
READY := .venv/.run
READY_DEV := .venv/.dev
BROWSER := .venv/.browser
WARM_UP := @echo "Compiling the engine, once" && $(PY) -c "from csmd_core import engine; engine.warm_up()"

.PHONY: run test coverage check bench clean

run: $(READY)
	$(PY) -m streamlit run app.py

test: $(READY_DEV) $(BROWSER)
	$(PY) -m pytest -n 2 --dist loadfile -m "not browser"
	$(PY) -m pytest -m browser

coverage: $(READY_DEV)
	$(PY) -m pytest -n 2 --dist loadfile -m "not browser" --cov --cov-report=term

check: $(READY_DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(READY_DEV) $(BROWSER)
	$(PY) -m bench

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

.venv/bin/python:
	python3 -m venv .venv

$(READY): requirements.txt | .venv/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(WARM_UP)
	touch $@

$(READY_DEV): requirements.txt requirements-cluster.txt requirements-dev.txt | .venv/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(WARM_UP)
	touch $@ $(READY)

$(BROWSER): | $(READY_DEV)
	$(PY) tests/browser.py
	touch $@
