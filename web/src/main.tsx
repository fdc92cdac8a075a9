import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style/theme.css";
import "./style/base.css";
import "./style/header.css";
import "./style/layout.css";
import "./style/device.css";
import "./style/chart.css";
import "./style/details.css";
import "./style/host.css";
import "./style/narrow.css";
import { App } from "./app";
import { startApp } from "./state/app";

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no #app");
render(<App />, root);
startApp();
