// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/stats_table.h"

#include "engine/base/counted.h"
#include "engine/metrics/metric_table.h"
#include "engine/trace/line_pieces.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace spanscope::metrics {
namespace {

std::string secondsText(double seconds) {
  return seconds < 1 ? trace::fixedPoint(1e3 * seconds, 2) + " ms" : trace::fixedPoint(seconds, 2) + " s";
}

std::string name(std::string_view id) {
  return get(id).name;
}

std::string shortName(std::string_view id) {
  return get(id).shortName;
}

}  // namespace

std::string statsTable(const trace::TraceStats& s) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&lines](const std::string& name, auto value) {
    if constexpr (std::is_integral_v<decltype(value)>) {
      lines.emplace_back(name, std::to_string(value));
    } else {
      lines.emplace_back(name, std::move(value));
    }
  };
  add("events", s.events);
  if (s.lost > 0) add("events not delivered", s.lost);
  add("duration", trace::fixedPoint(s.duration, 3) + " s");
  add("runs", s.runs);
  add("requests", s.requests);
  add("  finished", s.finishedRequests);
  if (s.servedRequests > 0) add("  answered by servers", s.servedRequests);
  if (s.unaccountedRequests > 0) {
    add("  of which it is not known what was found", s.unaccountedRequests);
    add("    their prompt tokens", s.unaccountedTokens);
  }
  // Cached, recomputed and computed add up to the prompts, as in the window.
  add(name("prompt-tokens"), s.account.total());
  add("  " + shortName("cached-tokens"), s.account.prompt.cached());
  add("  of them " + shortName("relocated-tokens"), s.account.prompt.relocated);
  add("  " + shortName("tokens-computed-again"), s.account.prompt.again);
  add("  " + shortName("computed-tokens"), s.account.prompt.computed);
  if (s.account.unread > 0) add("  " + shortName("unread-tokens"), s.account.unread);
  if (s.account.prompt.padded > 0)
    add("  of all these " + shortName("padded-tokens"), s.account.prompt.padded);
  if (s.account.prompt.cropped > 0) add(name("cropped-tokens"), s.account.prompt.cropped);
  if (s.account.beside > 0) add(name("tokens-beside-the-prompt"), s.account.beside);
  add(name("generated-tokens"), s.generatedTokens);
  const double prompt = static_cast<double>(std::max<std::int64_t>(1, s.account.total()));
  add(name("hit-rate"),
      trace::shareNumber(static_cast<double>(s.account.prompt.cached()) / prompt, 1) + " %");
  // Where the window holds all there was, the two are one.
  if (s.recent.requests > 0 && static_cast<std::uint64_t>(s.recent.requests) < s.requests)
    add("  " + shortName("recent-hit-rate"),
        trace::shareNumber(s.recent.rate(), 1) + " % of " +
            counted(static_cast<std::uint64_t>(s.recent.requests), "request"));
  add("blocks looked up", s.blocksLookedUp);
  add("  " + shortName("hit-blocks"), s.blocksHit);
  add("  " + shortName("relocated-blocks"), s.blocksRelocated);
  add("  " + shortName("partial-blocks"), s.blocksPartial);
  add("  " + shortName("missed-blocks"), s.blocksMissed);
  add(name("allocated-blocks"), s.blocksAllocated);
  add(name("stored-blocks"), s.blocksStored);
  add(name("evicted-blocks"), s.blocksEvicted);
  add("copied blocks", s.blocksCopied);
  if (s.residency.lifetime) {
    add("time in the pool", secondsText(*s.residency.lifetime) + " until evicted (median)");
    add("  idle at the end", secondsText(*s.residency.idle) + " (median)");
  }
  if (s.residency.gap) add("  between uses", secondsText(*s.residency.gap) + " (median)");
  if (s.preemptions > 0) {
    add("preemptions", s.preemptions);
    add("  tokens to resume with", s.resumedTokens);
    add("  found again", s.resumedCachedTokens);
    add("  computed again", s.recomputedTokens);
  }
  if (s.attentionLeftOut > 0) add("attention left out", counted(s.attentionLeftOut, "record"));
  add(name("passes"), s.passes);
  add("  mean rows", trace::fixedPoint(s.meanRowsPerPass, 1));
  add("  time", trace::fixedPoint(s.passTime, 3) + " s");
  add(name("time-to-first-token"), trace::fixedPoint(1e3 * s.timeToFirstToken, 2) + " ms (median)");
  add(name("inter-token-latency"), trace::fixedPoint(1e3 * s.interTokenLatency, 2) + " ms (median)");
  if (s.warnings > 0) add("warnings", s.warnings);
  if (s.errors > 0) add("errors", s.errors);

  std::size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  std::string table;
  for (const auto& [name, value] : lines) {
    table.append(name).append(width + 2 - name.size(), ' ').append(value).append("\n");
  }
  return table;
}

}  // namespace spanscope::metrics
