// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/trace_sources.h"

#include "app/cli/text_table.h"
#include "engine/base/visible_text.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/prompt_parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <variant>

namespace spanscope::cli {
namespace {

constexpr std::size_t kLongestText = 60;  // characters

/// What was recorded of one request; points into the events.
struct Recorded {
  RunId run = 0;
  NodePath node;
  const trace::SpanTableLaidOut* table = nullptr;
  const trace::PromptDivided* divided = nullptr;
  std::map<std::int32_t, const trace::SegmentAttention*> rows;   ///< by token of the reply
  std::map<std::int32_t, const trace::PartAttention*> partRows;  ///< by token of the reply
  std::string reply;
};

/// What a person wrote of tokens [begin, end), without what the chat template adds.
std::string textOf(const trace::SegmentInfo& segment, std::int32_t begin, std::int32_t end) {
  std::string text;
  std::int32_t token = 0;
  for (const trace::TokenRunInfo& run : segment.runs) {
    const std::int32_t from = std::max(token, begin);
    token += std::max(run.count, 0);
    if (run.source == trace::TokenSource::Template) continue;
    for (std::int32_t i = from; i < std::min(token, end); ++i) {
      if (static_cast<std::size_t>(i) < segment.texts.size())
        text += segment.texts[static_cast<std::size_t>(i)];
    }
  }
  return text;
}

std::vector<double> sharesOf(const Recorded& recorded, const trace::PromptParts& parts) {
  std::vector<trace::PartAttention> joined;
  for (const auto& [index, row] : recorded.rows) {
    const auto own = recorded.partRows.find(index);
    joined.push_back(own == recorded.partRows.end() ? trace::byPart(*row, parts) : *own->second);
  }
  std::vector<const trace::PartAttention*> rows;
  for (const trace::PartAttention& row : joined) rows.push_back(&row);
  return trace::sourceShares(parts, rows);
}

std::string beginningOf(const std::string& text) {
  if (characterCount(text) <= kLongestText) return text;
  std::string beginning;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (begins && characterCount(beginning) == kLongestText) break;
    beginning += c;
  }
  return beginning + "…";
}

/// "2.4 %", "0.031 %": two figures, whatever the size, and never 0 or 100 for what is not.
std::string percent(double share) {
  const bool isSmall = share > 0 && share < 0.1;
  return isSmall ? fmt::format("{:.2g} %", share * 100) : trace::shareNumber(share) + " %";
}

}  // namespace

std::vector<RequestSources> sourcesOf(std::span<const trace::Event> events) {
  std::map<RequestId, Recorded> requests;
  for (const trace::Event& event : events) {
    if (event.request == 0 || event.run == 0) continue;
    Recorded& recorded = requests[event.request];
    recorded.run = event.run;
    if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload)) {
      recorded.table = table;
      recorded.node = event.node;
    } else if (const auto* divided = std::get_if<trace::PromptDivided>(&event.payload)) {
      recorded.divided = divided;
    } else if (const auto* row = std::get_if<trace::SegmentAttention>(&event.payload)) {
      if (row->index >= 0) recorded.rows[row->index] = row;
    } else if (const auto* part = std::get_if<trace::PartAttention>(&event.payload)) {
      recorded.partRows[part->index] = part;
    } else if (const auto* finished = std::get_if<trace::StepFinished>(&event.payload)) {
      recorded.reply = finished->text;
    }
  }
  std::vector<RequestSources> found;
  for (const auto& [id, recorded] : requests) {
    if (recorded.table == nullptr || recorded.rows.empty()) continue;
    const std::vector<trace::SegmentInfo>& segments = recorded.table->segments;
    const trace::PromptParts parts(segments, recorded.divided);
    const std::vector<double> shares = sharesOf(recorded, parts);
    RequestSources request{
        .run = recorded.run, .request = id, .node = recorded.node, .reply = recorded.reply, .sources = {}};
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (parts.role(part) != trace::PartRole::Source) continue;
      TraceSource& source = request.sources.emplace_back();
      source.node = parts.info(part).node;
      source.tokens = parts.tokens(part);
      source.share = shares[part];
      for (const trace::PartRange& range : parts.visible()) {
        if (range.part == part) source.text += textOf(segments[range.segment], range.begin, range.end);
      }
    }
    std::stable_sort(request.sources.begin(), request.sources.end(),
                     [](const TraceSource& a, const TraceSource& b) { return a.share > b.share; });
    if (!request.sources.empty()) found.push_back(std::move(request));
  }
  return found;
}

std::string sourcesText(const std::vector<RequestSources>& requests) {
  std::string out;
  for (const RequestSources& request : requests) {
    out += fmt::format("{}run {} request {}{}{}: {}\n", out.empty() ? "" : "\n", request.run, request.request,
                       request.node.empty() ? "" : " ", onOneLine(request.node), onOneLine(request.reply));
    TextTable table(
        {{"share"}, {"tokens"}, {"node", TextTable::Align::Left}, {"document", TextTable::Align::Left}});
    for (const TraceSource& source : request.sources) {
      table.addRow(
          {percent(source.share), std::to_string(source.tokens), source.node, beginningOf(source.text)});
    }
    out += table.text();
  }
  return out;
}

nlohmann::ordered_json sourcesJson(const std::vector<RequestSources>& requests) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const RequestSources& request : requests) {
    nlohmann::ordered_json sources = nlohmann::ordered_json::array();
    for (const TraceSource& source : request.sources) {
      sources.push_back(
          {{"node", source.node}, {"share", source.share}, {"tokens", source.tokens}, {"text", source.text}});
    }
    json.push_back({{"run", request.run},
                    {"request", request.request},
                    {"node", request.node},
                    {"reply", request.reply},
                    {"sources", std::move(sources)}});
  }
  return json;
}

}  // namespace spanscope::cli
