/** Where the console begins. */
import { render } from "preact";
import { listenToKeys } from "./parts/keys";
import { showAttention } from "./shell/attention";
import { Shell } from "./shell/Shell";
import { showTheme } from "./shell/theme";
import { locked } from "./wire/api";
import { keepApprovals } from "./wire/approvals";
import { goLive } from "./wire/live";
import { keepPanes } from "./wire/panes";
import { keepScopes } from "./wire/scopes";
import { takeToken, token } from "./wire/token";
import "./style/tokens.css";
import "./style/base.css";

takeToken();
locked.value = token() === null;
showTheme();
listenToKeys();
goLive();
keepScopes();
keepApprovals();
keepPanes();
showAttention();
const root = document.getElementById("console");
if (root !== null) render(<Shell />, root);
