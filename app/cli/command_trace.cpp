// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/option_values.h"
#include "app/cli/run_printer.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/metrics/trace_stats.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/shown_text.h"
#include "engine/trace/event.h"
#include "engine/trace/event_codec.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/prompt_parts.h"
#include "engine/trace/report.h"
#include "engine/trace/trace_file.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::cli {
namespace {

/// A document of a prompt, with its share of the answer's attention.
struct TraceSource {
  NodePath node;
  std::string text;  ///< displayed text of the tokens
  std::int64_t tokens = 0;
  double share = 0;  ///< as in engine/trace/prompt_parts.h
};

/// The documents of one request, if its attention was recorded.
struct RequestSources {
  RunId run = 0;
  RequestId request = 0;
  NodePath node;
  std::string answer;
  std::vector<TraceSource> sources;  ///< the largest share first
  std::size_t recordedLayers = 0;    ///< the fewest layers of any token of the answer
  std::int32_t modelLayers = 0;      ///< layers of the model; 0: not reported
};

constexpr std::size_t kLongestText = 60;  // characters

/// The recorded data of one request. The pointers point into the events.
struct Recorded {
  RunId run = 0;
  std::int32_t modelLayers = 0;  ///< 0: not reported
  NodePath node;
  const trace::SpanTableLaidOut* table = nullptr;
  const trace::PromptDivided* divided = nullptr;
  std::map<std::int32_t, const trace::SegmentAttention*> rows;   ///< by token of the answer
  std::map<std::int32_t, const trace::PartAttention*> partRows;  ///< by token of the answer
  std::string answer;
};

/// Returns the text of tokens [begin, end) without the tokens of the chat template.
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
  if (countCharacters(text) <= kLongestText) return text;
  std::string beginning;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (begins && countCharacters(beginning) == kLongestText) break;
    beginning += c;
  }
  return beginning + "…";
}

/// Returns "2.4 %" or "0.031 %": two digits for any size. The result is 0 or 100 only if the share is exactly
/// 0 or 1.
std::string percent(double share) {
  const bool isSmall = share > 0 && share < 0.1;
  return isSmall ? fmt::format("{:.2g} %", share * 100) : trace::shareNumber(share) + " %";
}

/// Returns the sources of every request with recorded attention, in order.
std::vector<RequestSources> sourcesOf(std::span<const trace::Event> events) {
  std::map<RequestId, Recorded> requests;
  std::int32_t modelLayers = 0;
  for (const trace::Event& event : events) {
    if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload))
      modelLayers = session->layers;
    if (event.request == 0 || event.run == 0) continue;
    Recorded& recorded = requests[event.request];
    recorded.run = event.run;
    recorded.modelLayers = modelLayers;
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
      recorded.answer = finished->text;
    }
  }
  std::vector<RequestSources> found;
  for (const auto& [id, recorded] : requests) {
    if (recorded.table == nullptr || recorded.rows.empty()) continue;
    const std::vector<trace::SegmentInfo>& segments = recorded.table->segments;
    const trace::PromptParts parts(segments, recorded.divided);
    const std::vector<double> shares = sharesOf(recorded, parts);
    RequestSources request{
        .run = recorded.run, .request = id, .node = recorded.node, .answer = recorded.answer, .sources = {}};
    request.modelLayers = recorded.modelLayers;
    request.recordedLayers = recorded.rows.begin()->second->layers.size();
    for (const auto& [index, row] : recorded.rows)
      request.recordedLayers = std::min(request.recordedLayers, row->layers.size());
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
    std::ranges::stable_sort(request.sources, std::ranges::greater{}, &TraceSource::share);
    if (!request.sources.empty()) found.push_back(std::move(request));
  }
  return found;
}

std::string sourcesText(const std::vector<RequestSources>& requests) {
  std::string out;
  for (const RequestSources& request : requests) {
    out += fmt::format("{}run {} request {}{}{}: {}\n", out.empty() ? "" : "\n", request.run, request.request,
                       request.node.empty() ? "" : " ", onOneLine(request.node), onOneLine(request.answer));
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
                    {"reply", request.answer},
                    {"sources", std::move(sources)}});
  }
  return json;
}

constexpr std::size_t kPage =
    10'000;  // max events in memory at the same time, so that a long trace can be shown

struct TraceCommandOptions {
  std::string file;
  std::uint64_t from = 1;
  std::optional<std::uint64_t> count;
  std::vector<std::string> only;
  bool json = false;
};

/// Returns the names of comma-separated lists. Refuses names that are not names of events.
std::vector<std::string> eventNamesIn(const std::vector<std::string>& lists) {
  static const std::vector<std::string> known = trace::eventNames();
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (const std::string_view name : splitAt(list, ',')) {
      names.emplace_back(name);
      if (std::ranges::find(known, name) != known.end()) continue;
      std::string expected = "the name of an event, one of " + fmt::format("{}", fmt::join(known, ", "));
      if (const auto meant = query::nearestName(name, known)) expected += ". Did you mean " + *meant + "?";
      refuseOption("--only", query::inQuotes(name), expected);
    }
  }
  return names;
}

void writeWarnings(const Context& context, const std::vector<Error>& warnings) {
  for (const Error& warning : warnings) context.streams.err << "warning: " << warning.message() << '\n';
}

ExitCode show(const Context& context, const TraceCommandOptions& options) {
  trace::TraceReader reader(options.file);
  writeWarnings(context, reader.warnings());
  std::uint64_t next = options.from;
  std::uint64_t left = options.count.value_or(std::numeric_limits<std::uint64_t>::max());
  while (left > 0) {
    const std::vector<trace::Event> events = reader.eventsFrom(next, kPage);
    if (events.empty()) break;
    for (const trace::Event& event : events) {
      if (left == 0) break;
      const bool wanted =
          options.only.empty() ||
          std::ranges::find(options.only, trace::eventName(event.payload)) != options.only.end();
      if (!wanted) continue;
      context.streams.out << (options.json ? trace::jsonLine(event) : trace::describe(event)) << '\n';
      --left;
    }
    if (context.stop.stop_requested()) return ExitCode::Stopped;
    next = events.back().sequence + 1;
  }
  return ExitCode::Fine;
}

nlohmann::ordered_json toJson(const metrics::ResidencyMetrics& metrics) {
  const auto orNull = [](const std::optional<double>& seconds) {
    return seconds ? nlohmann::ordered_json(*seconds) : nlohmann::ordered_json(nullptr);
  };
  return {{"evicted", metrics.evicted},
          {"median_lifetime_seconds", orNull(metrics.lifetime)},
          {"median_idle_seconds", orNull(metrics.idle)},
          {"gaps", metrics.gaps},
          {"median_gap_seconds", orNull(metrics.gap)}};
}

/// Returns the sources of all requests of runs.
metrics::Totals totalsOf(const metrics::TraceStats& stats, const std::vector<trace::Event>& events) {
  metrics::Totals totals{.account = stats.account};
  metrics::Meters meters;
  std::set<RequestId> requests;
  for (const trace::Event& event : events) {
    meters.take(event);
    if (event.run != 0 && event.request != 0) requests.insert(event.request);
  }
  for (const RequestId request : requests) metrics::addTo(totals.metered, meters.of(request));
  return totals;
}

nlohmann::ordered_json toJson(const metrics::TraceStats& stats, const metrics::Totals& totals) {
  return {{"events", stats.events},
          {"lost", stats.lost},
          {"seconds", stats.duration},
          {"runs", stats.runs},
          {"requests", stats.requests},
          {"finished_requests", stats.finishedRequests},
          {"served_requests", stats.servedRequests},
          {"unaccounted_requests", stats.unaccountedRequests},
          {"unaccounted_tokens", stats.unaccountedTokens},
          {"prompt_tokens", stats.promptTokens},
          {"cached_tokens", stats.cachedTokens},
          {"relocated_tokens", stats.relocatedTokens},
          {"computed_tokens", stats.computedTokens},
          {"account", accountJson(totals)},
          {"generated_tokens", stats.generatedTokens},
          {"hit_rate", stats.hitRate},
          {"recent_hit_rate", stats.recent.rate()},
          {"recent_requests", stats.recent.requests},
          {"blocks_looked_up", stats.blocksLookedUp},
          {"blocks_hit", stats.blocksHit},
          {"blocks_relocated", stats.blocksRelocated},
          {"blocks_partial", stats.blocksPartial},
          {"blocks_missed", stats.blocksMissed},
          {"blocks_allocated", stats.blocksAllocated},
          {"blocks_stored", stats.blocksStored},
          {"blocks_evicted", stats.blocksEvicted},
          {"blocks_copied", stats.blocksCopied},
          {"residency", toJson(stats.residency)},
          {"preemptions", stats.preemptions},
          {"resumed_tokens", stats.resumedTokens},
          {"resumed_cached_tokens", stats.resumedCachedTokens},
          {"recomputed_tokens", stats.recomputedTokens},
          {"attention_left_out", stats.attentionLeftOut},
          {"passes", stats.passes},
          {"mean_rows_per_pass", stats.meanRowsPerPass},
          {"pass_seconds", stats.passTime},
          {"time_to_first_token_seconds", stats.timeToFirstToken},
          {"inter_token_latency_seconds", stats.interTokenLatency},
          {"warnings", stats.warnings},
          {"errors", stats.errors}};
}

ExitCode showStats(const Context& context, const TraceCommandOptions& options) {
  const trace::TraceFile file = trace::readTrace(options.file);
  writeWarnings(context, file.warnings);
  const metrics::TraceStats stats = metrics::stats(file.events);
  if (options.json) {
    context.streams.out << jsonText(toJson(stats, totalsOf(stats, file.events))) << '\n';
  } else {
    context.streams.out << metrics::statsTable(stats);
  }
  return ExitCode::Fine;
}

ExitCode showSources(const Context& context, const TraceCommandOptions& options) {
  const trace::TraceFile file = trace::readTrace(options.file);
  writeWarnings(context, file.warnings);
  const std::vector<RequestSources> requests = sourcesOf(file.events);
  if (requests.empty()) {
    context.streams.err << /*id:no-observed-answer*/
        "warning: no answer in this recording has documents and recorded attention; "
        "record the run with --observe all\n";
  }
  for (const RequestSources& request : requests) {
    if (request.recordedLayers >= static_cast<std::size_t>(std::max(request.modelLayers, 0))) continue;
    context.streams.err << "warning: run " << request.run << " request " << request.request
                        << /*id:shares-of-some-layers*/ ": the shares are from only "
                        << request.recordedLayers << " of " << counted(request.modelLayers, "layer")
                        << "; record the run with --observe all\n";
  }
  if (options.json) {
    context.streams.out << jsonText(sourcesJson(requests)) << '\n';
  } else {
    context.streams.out << sourcesText(requests);
  }
  return ExitCode::Fine;
}

}  // namespace

void addTrace(CLI::App& app, Context& context) {
  CLI::App* group = app.add_subcommand("trace", "Show a recording that spanq run --trace has written");
  group->footer("Example:\n  spanq trace stats run.trace\n");
  group->require_subcommand(1);
  const auto options = std::make_shared<TraceCommandOptions>();

  CLI::App* showCommand = group->add_subcommand("show", "Write the events, one per line");
  showCommand->footer(
      "Examples:\n  spanq trace show run.trace --only block_looked_up,request_admitted\n"
      "  spanq trace show run.trace --json --from 100 --count 20\n");
  showCommand->add_option("FILE", options->file, "Trace file")->required();
  showCommand->add_flag("--json", options->json, "Write each event as JSON");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  addNumber(*showCommand, "--from", options->from, "Sequence number of the first event", {1, kMost});
  addNumber(*showCommand, "--count", options->count, "Max events to write (default: all)",
            Range<std::uint64_t>{0, kMost});
  showCommand
      ->add_option_function<std::vector<std::string>>(
          "--only", [options](const auto& lists) { options->only = eventNamesIn(lists); },
          "Names of the events to write, e.g. step_started,step_finished; can be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  showCommand->callback(
      [&context, options] { context.action = [&context, options] { return show(context, *options); }; });

  CLI::App* statsCommand = group->add_subcommand("stats", "Summarize a recording");
  statsCommand->footer("Example:\n  spanq trace stats run.trace\n");
  statsCommand->add_option("FILE", options->file, "Trace file")->required();
  statsCommand->add_flag("--json", options->json, "Write JSON");
  statsCommand->callback(
      [&context, options] { context.action = [&context, options] { return showStats(context, *options); }; });

  CLI::App* sourcesCommand = group->add_subcommand(
      "sources", "Show the documents that each answer used, from the recorded attention");
  sourcesCommand->footer("Example:\n  spanq trace sources run.trace\n");
  sourcesCommand->add_option("FILE", options->file, "Trace file")->required();
  sourcesCommand->add_flag("--json", options->json, "Write JSON");
  sourcesCommand->callback([&context, options] {
    context.action = [&context, options] { return showSources(context, *options); };
  });
}

}  // namespace spanscope::cli
