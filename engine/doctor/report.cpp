// SPDX-License-Identifier: GPL-3.0-or-later
// The forms of a report.
#include "engine/doctor/report.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/doctor/redaction.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace spanscope::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNone = "–";

/// The page has no scripts, and the policy forbids other files.
constexpr const char* kPageHead = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Cache report</title>
<style>
:root{color-scheme:light dark;--line:#c8ccd2;--weak:#5b6470;--bar:#2f6fde;--head:#f0f2f5;--page:#fff;--ink:#16191d}
@media(prefers-color-scheme:dark){
:root{--line:#3a4048;--weak:#a3acb8;--bar:#6ea0ff;--head:#23272d;--page:#16191d;--ink:#e6e9ed}}
body{font:15px/1.5 system-ui,sans-serif;max-width:76em;margin:2em auto;padding:0 1em;
background:var(--page);color:var(--ink)}
table{border-collapse:collapse;width:100%;margin:.5em 0 1.5em}
th,td{border:1px solid var(--line);padding:.3em .6em;text-align:left;vertical-align:top;overflow-wrap:anywhere}
th{background:var(--head);overflow-wrap:normal}
td:first-child{min-width:9em}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
small,.weak{color:var(--weak)}
.bar{background:var(--bar);height:.8em;min-width:1px}
summary{cursor:pointer;font-weight:600}
</style>
</head>
<body>
<h1>Cache report</h1>
)html";

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string shown(std::string_view text) {
  return onOneLine(redacted(text));
}

/// Replaces spaces, tabs and line breaks by signs.
std::string visibleBlanks(std::string_view text) {
  std::string visible;
  for (const char c : text) {
    if (c == ' ')
      visible += "·";
    else if (c == '\n')
      visible += "⏎";
    else if (c == '\t')
      visible += "⇥";
    else
      visible += c;
  }
  return onOneLine(visible);
}

std::string changeOf(const Finding& finding) {
  if (finding.before.empty() && finding.after.empty()) return shown(finding.detail);
  const auto excerpt = [&finding](const std::string& text) {
    return finding.cause == CauseId::WhiteSpace ? visibleBlanks(text) : onOneLine(text);
  };
  const std::string change = excerpt(finding.before) + " → " + excerpt(finding.after);
  return finding.detail.empty() ? change : change + " (" + shown(finding.detail) + ")";
}

std::string causesOf(const RequestReport& request) {
  if (!request.refusal.empty()) return "Failed with " + shown(request.refusal) + ". Not counted.";
  if (!request.failure.empty()) return "not rendered: " + shown(request.failure);
  std::string text;
  for (const NamedFinding& one : request.findings)
    text += (text.empty() ? "" : " Also: ") + std::string(causeOf(one.finding.cause).sentence);
  return text.empty() ? "no loss" : text;
}

std::string estimateNote(const LogReport& report) {
  return report.isEstimated ? "Token counts are estimates from the length of the text. The tokenizer of a "
                              "model gives exact counts."
                            : "";
}

template <class T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string csvField(std::string text) {
  // Spreadsheets run texts that begin like a formula.
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos)
    text.insert(0, 1, '\'');
  if (text.find_first_of("\",\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string markdownCell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos) cell += '\\';
    cell += c;
  }
  return cell;
}

struct Column {
  const char* title;
  std::string RequestRow::*text;
  bool isNumber;
};
constexpr Column kColumns[] = {{"request", &RequestRow::place, false},
                               {"cached", &RequestRow::cached, true},
                               {"could be cached", &RequestRow::could, true},
                               {"reported", &RequestRow::reported, true},
                               {"first difference", &RequestRow::difference, false},
                               {"change", &RequestRow::change, false},
                               {"cause", &RequestRow::cause, false},
                               {"lost tokens", &RequestRow::lost, true}};

std::string summaryText(const LogReport& report) {
  std::string text = fmt::format("{} in {}. {} of {} prompt tokens are cached. {} tokens ({}) are lost.",
                                 counted(report.requests.size(), "request"),
                                 counted(report.conversations, "conversation"), grouped(report.cached),
                                 grouped(report.prompt), grouped(report.lost), shareText(report.lostShare()));
  if (report.refused > 0)
    text += fmt::format(" {} failed. Failed requests are not counted.", counted(report.refused, "request"));
  return text;
}

}  // namespace

std::string shareText(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string qualityText(const std::optional<WayQuality>& quality) {
  if (!quality) return kNone;
  return fmt::format("KL {:.4f}, {} of tokens agree ({})", quality->divergence(),
                     shareText(quality->agreement()), counted(quality->requests.size(), "request"));
}

std::string qualityNote(const LogReport& report) {
  if (report.qualityModel.empty()) return {};
  return "Quality: the model " + shown(report.qualityModel) +
         " answered requests of this log after a full prefill. KL is the mean Kullback-Leibler divergence of "
         "the same answer after the prompt of each way, in nats per token. Only requests that the way "
         "changes "
         "are measured.";
}

std::string costText(std::uint64_t tokens, const Prices& prices) {
  std::string text = grouped(tokens) + " tokens";
  const auto count = static_cast<double>(tokens);
  if (prices.tokensPerSecond) text += fmt::format(", {:.1f} s", count / *prices.tokensPerSecond);
  if (prices.perMillion) text += fmt::format(", price {:.4f}", count * *prices.perMillion / 1e6);
  return text;
}

std::vector<std::vector<std::size_t>> byConversation(const LogReport& report) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::uint32_t, std::size_t> places;
  for (std::size_t i = 0; i < report.requests.size(); ++i) {
    const auto [place, isNew] = places.emplace(report.requests[i].conversation, groups.size());
    if (isNew) groups.emplace_back();
    groups[place->second].push_back(i);
  }
  return groups;
}

std::vector<ReuseDistance> reuseDistances(const LogReport& report) {
  std::vector<ReuseDistance> distances;
  for (std::size_t i = 0; i < report.requests.size(); ++i) {
    const RequestReport& request = report.requests[i];
    if (!request.best || request.cached == 0 || *request.best >= i) continue;
    const std::size_t distance = i - *request.best;
    std::size_t place = 0;
    while ((std::size_t{1} << place) < distance) ++place;
    while (distances.size() <= place) {
      const std::size_t to = std::size_t{1} << distances.size();
      distances.push_back({.from = to / 2 + 1, .to = to});
    }
    distances[place].cached += request.cached;
    ++distances[place].requests;
  }
  return distances;
}

RequestRow rowOf(const LogReport& report, const RequestReport& request) {
  const std::string& file = report.files[request.place.file];
  RequestRow row{
      .place = onOneLine(file) + ":" + std::to_string(request.place.line),
      .cached = grouped(request.cached) + " / " + grouped(request.prompt),
      .could = grouped(request.couldBeCached()),
      .reported = request.reported ? grouped(static_cast<std::uint64_t>(*request.reported)) : kNone,
      .difference = kNone,
      .change = kNone,
      .cause = causesOf(request),
      .lost = grouped(request.lost)};
  if (request.place.part > 0) row.place += "#" + std::to_string(request.place.part + 1);
  if (!request.differenceSection.empty())
    row.difference = "token " + std::to_string(request.common) + ", " + request.differenceSection;
  // The cause can be about another request than the one with the longest common prefix.
  const bool isAboutOther = request.compared && request.compared != request.best &&
                            !request.findings.empty() &&
                            causeOf(request.findings.front().finding.cause).matches != nullptr;
  if (isAboutOther)
    row.difference =
        "token " + std::to_string(request.commonCompared) + ", " + request.findings.front().section;
  if (!request.findings.empty())
    if (std::string change = changeOf(request.findings.front().finding); !change.empty())
      row.change = std::move(change);
  return row;
}

std::string jsonReport(const LogReport& report, const Prices& prices) {
  Json json{{"server", report.server}, {"tokens", report.tokens}, {"estimated", report.isEstimated}};
  json["files"] = Json::array();
  for (const std::string& file : report.files) json["files"].push_back(redacted(file));
  json["totals"] = {{"requests", report.requests.size()}, {"conversations", report.conversations},
                    {"prompt_tokens", report.prompt},     {"cached_tokens", report.cached},
                    {"lost_tokens", report.lost},         {"lost_share", report.lostShare()},
                    {"failed_requests", report.refused}};
  const auto costs = [&](Json& row, std::uint64_t tokens) {
    if (prices.tokensPerSecond) row["seconds"] = static_cast<double>(tokens) / *prices.tokensPerSecond;
    if (prices.perMillion) row["price"] = static_cast<double>(tokens) * *prices.perMillion / 1e6;
  };
  json["causes"] = Json::array();
  for (const CauseTotal& total : report.causes) {
    const Cause& cause = causeOf(total.cause);
    Json row{{"cause", cause.key},
             {"sentence", cause.sentence},
             {"cure", cause.cure},
             {"requests", total.requests},
             {"lost_tokens", total.lost}};
    costs(row, total.lost);
    json["causes"].push_back(std::move(row));
  }
  json["ways"] = Json::array();
  for (const Way& way : report.ways) {
    Json row{{"way", way.key},
             {"name", way.name},
             {"prompt_tokens", way.prompt},
             {"computed_tokens", way.computed}};
    costs(row, way.computed);
    if (way.quality) {
      row["quality"] = {{"model", redacted(report.qualityModel)},
                        {"requests", way.quality->requests.size()},
                        {"divergence_nats", way.quality->divergence()},
                        {"agreement", way.quality->agreement()}};
      for (const RequestQuality& one : way.quality->requests)
        row["quality"]["samples"].push_back({{"request", one.request + 1},
                                             {"divergence_nats", one.divergence},
                                             {"tokens", one.tokens},
                                             {"agreeing_tokens", one.agreeing}});
    }
    json["ways"].push_back(std::move(row));
  }
  Json& requests = json["requests"] = Json::array();
  const auto numberOf = [](const std::optional<std::uint32_t>& request) {
    return request ? Json(*request + 1) : Json(nullptr);
  };
  for (const RequestReport& request : report.requests) {
    Json row{{"request", requests.size() + 1},
             {"file", redacted(report.files[request.place.file])},
             {"line", request.place.line},
             {"part", request.place.part + 1},
             {"conversation", request.conversation + 1},
             {"session", request.sessionId.empty() ? Json(nullptr) : Json(request.sessionId)},
             {"upstream", request.upstream.empty() ? Json(nullptr) : Json(request.upstream)},
             {"time", orNull(request.time)},
             {"concurrent", request.isConcurrent},
             {"model", request.model},
             {"prompt_tokens", request.prompt},
             {"cached_tokens", request.cached},
             {"reported_prompt_tokens", orNull(request.reportedPrompt)},
             {"reported_cached_tokens", orNull(request.reported)},
             {"could_be_cached", request.couldBeCached()},
             {"lost_tokens", request.lost},
             {"repeated_tokens", request.repeated},
             {"common_prefix", request.common},
             {"best_earlier_request", numberOf(request.best)},
             {"compared_request", numberOf(request.compared)},
             {"common_with_compared", request.commonCompared}};
    row["first_difference"] = nullptr;
    if (!request.differenceSection.empty())
      row["first_difference"] = {{"token", request.common}, {"section", request.differenceSection}};
    row["cause"] =
        request.findings.empty() ? Json(nullptr) : Json(causeOf(request.findings.front().finding.cause).key);
    Json& findings = row["causes"] = Json::array();
    for (const NamedFinding& one : request.findings) {
      const Cause& cause = causeOf(one.finding.cause);
      findings.push_back({{"cause", cause.key},
                          {"sentence", cause.sentence},
                          {"section", one.section},
                          {"byte", one.finding.at},
                          {"detail", redacted(one.finding.detail)},
                          {"before", one.finding.before},
                          {"after", one.finding.after},
                          {"cure", cause.cure}});
    }
    if (!request.failure.empty()) row["failure"] = request.failure;
    if (!request.refusal.empty()) row["failed"] = request.refusal;
    requests.push_back(std::move(row));
  }
  json["problem_count"] = report.problemCount;
  Json& problems = json["problems"] = Json::array();
  for (const LogProblem& problem : report.problems)
    problems.push_back(
        {{"file", redacted(report.files[problem.file])}, {"line", problem.line}, {"found", problem.found}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csvReport(const LogReport& report) {
  std::string text =
      "file,line,part,conversation,model,prompt_tokens,cached_tokens,could_be_cached,reported_cached_tokens,"
      "first_difference_token,first_difference_section,before,after,cause,all_causes,lost_tokens,"
      "estimated";
  for (const Way& way : report.ways)
    if (way.quality) text += ",kl_" + std::string(way.key) + ",agreement_" + way.key;
  text += "\r\n";
  for (std::size_t number = 0; number < report.requests.size(); ++number) {
    const RequestReport& request = report.requests[number];
    std::string all;
    for (const NamedFinding& one : request.findings)
      all += (all.empty() ? "" : " ") + std::string(causeOf(one.finding.cause).key);
    const Finding* first = request.findings.empty() ? nullptr : &request.findings.front().finding;
    const bool differs = !request.differenceSection.empty();
    std::vector<std::string> fields{redacted(report.files[request.place.file]),
                                    std::to_string(request.place.line),
                                    std::to_string(request.place.part + 1),
                                    std::to_string(request.conversation + 1),
                                    onOneLine(request.model),
                                    std::to_string(request.prompt),
                                    std::to_string(request.cached),
                                    std::to_string(request.couldBeCached()),
                                    request.reported ? std::to_string(*request.reported) : "",
                                    differs ? std::to_string(request.common) : "",
                                    request.differenceSection,
                                    first == nullptr ? "" : onOneLine(first->before),
                                    first == nullptr ? "" : onOneLine(first->after),
                                    !request.refusal.empty() ? "failed"
                                    : first == nullptr       ? ""
                                                             : causeOf(first->cause).key,
                                    all,
                                    std::to_string(request.lost),
                                    report.isEstimated ? "yes" : "no"};
    for (const Way& way : report.ways) {
      if (!way.quality) continue;
      const auto& samples = way.quality->requests;
      const auto sample = std::ranges::find(samples, number, &RequestQuality::request);
      const bool isMeasured = sample != samples.end() && sample->tokens > 0;
      fields.push_back(isMeasured ? fmt::format("{}", sample->divergence) : "");
      fields.push_back(isMeasured ? fmt::format("{}", static_cast<double>(sample->agreeing) /
                                                          static_cast<double>(sample->tokens))
                                  : "");
    }
    for (std::size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : ",") + csvField(fields[i]);
    text += "\r\n";
  }
  return text;
}

std::string markdownReport(const LogReport& report, const Prices& prices) {
  std::string text = "# Cache report\n\n" + summaryText(report) + "\n\n";
  text += "Server: " + markdownCell(report.server) + ". Tokens: " + markdownCell(onOneLine(report.tokens)) +
          ".\n";
  if (report.isEstimated) text += "\n" + estimateNote(report) + "\n";
  text += "\n## Causes\n\n| cause | requests | lost | change that helps |\n|---|---:|---:|---|\n";
  for (const CauseTotal& total : report.causes) {
    const Cause& cause = causeOf(total.cause);
    text += fmt::format("| {} | {} | {} | {} |\n", cause.sentence, total.requests,
                        costText(total.lost, prices), cause.cure);
  }
  text +=
      "\n## Cost of each way to send this log\n\n| way | prompt tokens | computed | quality "
      "|\n|---|---:|---:|---|\n";
  for (const Way& way : report.ways)
    text += fmt::format("| {} | {} | {} | {} |\n", way.name, grouped(way.prompt),
                        costText(way.computed, prices), qualityText(way.quality));
  if (const std::string note = qualityNote(report); !note.empty()) text += "\n" + markdownCell(note) + "\n";
  text += "\n## Requests\n";
  for (const auto& group : byConversation(report)) {
    text += fmt::format("\n### Conversation {}\n\n|", report.requests[group.front()].conversation + 1);
    for (const Column& column : kColumns) text += " " + std::string(column.title) + " |";
    text += "\n|";
    for (const Column& column : kColumns) text += column.isNumber ? "---:|" : "---|";
    text += "\n";
    for (const std::size_t index : group) {
      const RequestRow row = rowOf(report, report.requests[index]);
      text += "|";
      for (const Column& column : kColumns) text += " " + markdownCell(row.*column.text) + " |";
      text += "\n";
    }
  }
  if (report.problemCount > 0) {
    text += fmt::format(
        "\n## Skipped and incomplete records\n\n{} records are skipped, or have an incomplete prompt.\n\n",
        report.problemCount);
    for (const LogProblem& problem : report.problems)
      text += fmt::format("- {}:{}: {}\n", markdownCell(onOneLine(report.files[problem.file])), problem.line,
                          problem.found);
  }
  return text;
}

std::string htmlReport(const LogReport& report, const Prices& prices) {
  const auto safe = [](std::string_view text) { return escapedMarkup(toValidUtf8(text)); };
  const auto tableHead = [](std::initializer_list<std::pair<const char*, bool>> columns) {
    std::string text = "<table>\n<tr>";
    for (const auto& [title, isNumber] : columns)
      text += std::string(isNumber ? "<th class=\"n\">" : "<th>") + title + "</th>";
    return text + "</tr>\n";
  };
  std::string html = kPageHead;
  html += "<p>" + safe(summaryText(report)) + "</p>\n<p class=\"weak\">Server: " + safe(report.server) +
          ". Tokens: " + safe(onOneLine(report.tokens)) + ".</p>\n";
  if (report.isEstimated) html += "<p><strong>" + estimateNote(report) + "</strong></p>\n";
  std::uint64_t most = 1;
  for (const CauseTotal& total : report.causes) most = std::max(most, total.lost);
  const auto bar = [](std::uint64_t value, std::uint64_t limit) {
    return fmt::format(
        "<td style=\"width:18%\"><div class=\"bar\" style=\"width:{:.1f}%\"></div></td>",
        100.0 * static_cast<double>(value) / static_cast<double>(std::max<std::uint64_t>(1, limit)));
  };
  html += "<h2>Causes by cost</h2>\n";
  html += tableHead(
      {{"cause", false}, {"requests", true}, {"lost", true}, {"", false}, {"change that helps", false}});
  for (const CauseTotal& total : report.causes) {
    const Cause& cause = causeOf(total.cause);
    html += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>{}<td>{}</td></tr>\n",
                        safe(cause.sentence), total.requests, safe(costText(total.lost, prices)),
                        bar(total.lost, most), safe(cause.cure));
  }
  html += "</table>\n<h2>Cost of each way to send this log</h2>\n";
  html += tableHead(
      {{"way", false}, {"prompt tokens", true}, {"computed", true}, {"", false}, {"quality", false}});
  for (const Way& way : report.ways) {
    html += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>{}<td>{}</td></tr>\n",
                        safe(way.name), grouped(way.prompt), safe(costText(way.computed, prices)),
                        bar(way.computed, report.prompt), safe(qualityText(way.quality)));
  }
  html += "</table>\n";
  if (const std::string note = qualityNote(report); !note.empty())
    html += "<p class=\"weak\">" + safe(note) + "</p>\n";
  html += "<h2>Requests</h2>\n";
  for (const auto& group : byConversation(report)) {
    html += fmt::format(
        "<details open>\n<summary>Conversation {} <small>({} requests)</small></summary>\n<table>\n<tr>",
        report.requests[group.front()].conversation + 1, group.size());
    for (const Column& column : kColumns)
      html += std::string(column.isNumber ? "<th class=\"n\">" : "<th>") + column.title + "</th>";
    html += "</tr>\n";
    for (const std::size_t index : group) {
      const RequestRow row = rowOf(report, report.requests[index]);
      html += "<tr>";
      for (const Column& column : kColumns)
        html += (column.isNumber ? "<td class=\"n\">" : "<td>") + safe(row.*column.text) + "</td>";
      html += "</tr>\n";
    }
    html += "</table>\n</details>\n";
  }
  if (report.problemCount > 0) {
    html += fmt::format(
        "<h2>Skipped and incomplete records</h2>\n<p>{} records are skipped, or have an incomplete "
        "prompt.</p>\n<ul>\n",
        report.problemCount);
    for (const LogProblem& problem : report.problems)
      html += "<li>" + safe(onOneLine(report.files[problem.file])) + ":" + std::to_string(problem.line) +
              ": " + safe(problem.found) + "</li>\n";
    html += "</ul>\n";
  }
  return html + "</body>\n</html>\n";
}

}  // namespace spanscope::doctor
