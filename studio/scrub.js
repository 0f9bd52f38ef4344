// A slider that the server moves while it is not held, and that sends where it is let go.
// It sends an event and keeps no state: so a tick under way never takes for a wish of the user
// what is only an earlier place of the slider.
export default function ({ data, parentElement, setTriggerValue }) {
  const slider = parentElement.querySelector("input");
  const told = parentElement.querySelector("output");
  const say = () => (told.textContent = `${Number(slider.value).toLocaleString("en")} of ${Number(slider.max).toLocaleString("en")}`);
  slider.setAttribute("aria-label", data.label);
  slider.onpointerdown = () => (slider.held = true);
  slider.oninput = say;
  slider.onchange = () => {
    slider.held = false;
    setTriggerValue("to", Number(slider.value));
  };
  slider.onblur = slider.onpointerup = () => (slider.held = false);
  if (slider.held) return;
  slider.max = data.most;
  slider.value = data.at;
  say();
}
