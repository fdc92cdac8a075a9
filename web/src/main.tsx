import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./theme.css";
import "./page.css";
import { App } from "./app";
import { startApp } from "./state/app";

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no #app");
render(<App />, root);
startApp();
