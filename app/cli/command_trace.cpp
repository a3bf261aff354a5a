// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/json_output.h"
#include "app/cli/number_option.h"
#include "app/cli/run_json.h"
#include "app/cli/trace_sources.h"
#include "app/cli/usage.h"
#include "engine/metrics/stats_table.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/shown_text.h"
#include "engine/trace/event_codec.h"
#include "engine/trace/event_json.h"
#include "engine/trace/report.h"
#include "engine/trace/trace_file.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {
namespace {

constexpr std::size_t kPage = 10'000;  // events in memory at once, so that a long trace can be shown

struct TraceCommandOptions {
  std::string file;
  std::uint64_t from = 1;
  std::optional<std::uint64_t> count;
  std::vector<std::string> only;
  bool json = false;
};

/// The names in lists with commas. A name that no event has is refused.
std::vector<std::string> eventNamesIn(const std::vector<std::string>& lists) {
  static const std::vector<std::string> known = trace::eventNames();
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (const std::string_view name : splitAtCommas(list)) {
      names.emplace_back(name);
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string expected = "the name of an event, one of " + fmt::format("{}", fmt::join(known, ", "));
      if (const auto meant = query::nearestName(name, known)) expected += "; did you mean " + *meant + "?";
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
          options.only.empty() || std::find(options.only.begin(), options.only.end(),
                                            trace::eventName(event.payload)) != options.only.end();
      if (!wanted) continue;
      context.streams.out << (options.json ? trace::jsonLine(event) : trace::describe(event)) << '\n';
      --left;
    }
    if (context.stop.stop_requested()) return ExitCode::Stopped;
    next = events.back().sequence + 1;
  }
  return ExitCode::Fine;
}

nlohmann::ordered_json toJson(const trace::ResidencyFigures& figures) {
  const auto orNull = [](const std::optional<double>& seconds) {
    return seconds ? nlohmann::ordered_json(*seconds) : nlohmann::ordered_json(nullptr);
  };
  return {{"evicted", figures.evicted},
          {"median_lifetime_seconds", orNull(figures.lifetime)},
          {"median_idle_seconds", orNull(figures.idle)},
          {"gaps", figures.gaps},
          {"median_gap_seconds", orNull(figures.gap)}};
}

/// Of all requests of runs.
metrics::Totals totalsOf(const trace::TraceStats& stats, const std::vector<trace::Event>& events) {
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

nlohmann::ordered_json toJson(const trace::TraceStats& stats, const metrics::Totals& totals) {
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
  const trace::TraceStats stats = trace::stats(file.events);
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
    context.streams.err
        << "warning: no answer in this recording has documents and recorded attention; record it with "
           "--observe\n";
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
  CLI::App* group = app.add_subcommand("trace", "Look at a recording made with run --trace");
  group->footer("Example:\n  spanq trace stats run.trace\n");
  group->require_subcommand(1);
  const auto options = std::make_shared<TraceCommandOptions>();

  CLI::App* showCommand = group->add_subcommand("show", "Write the events, one a line");
  showCommand->footer(
      "Examples:\n  spanq trace show run.trace --only block_looked_up,request_admitted\n"
      "  spanq trace show run.trace --json --from 100 --count 20\n");
  showCommand->add_option("FILE", options->file, "Trace file")->required();
  showCommand->add_flag("--json", options->json, "Write each event as JSON");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  addNumber(*showCommand, "--from", options->from, "Sequence number of the first event", {1, kMost});
  addNumber(*showCommand, "--count", options->count, "Most events to write; without, all",
            Range<std::uint64_t>{0, kMost});
  showCommand
      ->add_option_function<std::vector<std::string>>(
          "--only", [options](const auto& lists) { options->only = eventNamesIn(lists); },
          "Names of the events to write, e.g. step_started,step_finished; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  showCommand->callback(
      [&context, options] { context.action = [&context, options] { return show(context, *options); }; });

  CLI::App* statsCommand = group->add_subcommand("stats", "Sum a recording up");
  statsCommand->footer("Example:\n  spanq trace stats run.trace\n");
  statsCommand->add_option("FILE", options->file, "Trace file")->required();
  statsCommand->add_flag("--json", options->json, "Write JSON");
  statsCommand->callback(
      [&context, options] { context.action = [&context, options] { return showStats(context, *options); }; });

  CLI::App* sourcesCommand =
      group->add_subcommand("sources", "Say which documents each answer used, from its recorded attention");
  sourcesCommand->footer("Example:\n  spanq trace sources run.trace\n");
  sourcesCommand->add_option("FILE", options->file, "Trace file")->required();
  sourcesCommand->add_flag("--json", options->json, "Write JSON");
  sourcesCommand->callback([&context, options] {
    context.action = [&context, options] { return showSources(context, *options); };
  });
}

}  // namespace spanscope::cli
