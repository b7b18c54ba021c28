/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c - which function answers which path.
 *
 * No path names a file: what is not in this table is not there.
 */
#include "serve/site.h"

#include "base/banned.h"

static const char html[] = "text/html; charset=utf-8";
static const char css[] = "text/css; charset=utf-8";
static const char script[] = "text/javascript; charset=utf-8";
static const char json[] = "application/json";
static const char prometheus[] = "text/plain; version=0.0.4; charset=utf-8";

#define GET    SL__HTTP_GET
#define POST   SL__HTTP_POST
#define DELETE SL__HTTP_DELETE
#define PAGE   SL__ROUTE_PAGE
#define ASSET  SL__ROUTE_FILE
#define DATA   SL__ROUTE_DATA
#define FRESH  SL__ROUTE_FRESH

const struct sl__route sl__routes[] = {
	{"/", GET, PAGE, html, sl__page_runs},
	{"/runs/#", GET, PAGE, html, sl__page_run},
	{"/series", GET, PAGE, html, sl__page_series},
	{"/compare", GET, PAGE, html, sl__page_compare},
	{"/page.css", GET, ASSET, css, sl__file_style},
	{"/page.js", GET, ASSET, script, sl__file_script},
	{"/site.js", GET, ASSET, script, sl__file_site_script},
	{"/icon.svg", GET, ASSET, "image/svg+xml", sl__file_icon},
	{"/metrics", GET, DATA, prometheus, sl__write_metrics},
	{"/api/runs", GET, DATA, json, sl__api_runs},
	{"/api/runs/#", GET, DATA, json, sl__api_run},
	{"/api/series", GET, DATA, json, sl__api_series},
	{"/api/compare", GET, DATA, json, sl__api_compare},
	{"/api/live", GET, FRESH, json, sl__api_live},
	{"/api/runs/#", DELETE, FRESH, json, sl__change_delete},
	{"/api/runs/#/tags", POST, FRESH, json, sl__change_tag},
	{"/api/runs/#/tags", DELETE, FRESH, json, sl__change_tag},
	{"/api/runs/#/pin", POST, FRESH, json, sl__change_pin},
	{"/api/runs/#/pin", DELETE, FRESH, json, sl__change_pin},
	{"/api/runs/#/baseline", POST, FRESH, json, sl__change_baseline},
	{"/api/runs/#/baseline", DELETE, FRESH, json, sl__change_baseline},
	{NULL, GET, DATA, NULL, NULL},
};
