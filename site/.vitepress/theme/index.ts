import theme from "vitepress/theme";
// oxlint-disable-next-line import/no-unassigned-import -- how VitePress takes styles
import "./style.css";

export default theme;
