// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/report.h"

#include "engine/base/counted.h"
#include "engine/base/median.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/fidelity_figures.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::trace {

namespace {

constexpr std::size_t kLongestText = 60;  // bytes
constexpr double kNanoseconds = 1e9;

std::string fixedPoint(double value, int digits) {
  char text[64];
  const int size = std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return std::string(text, static_cast<std::size_t>(std::clamp(size, 0, 63)));
}

std::string secondsText(double seconds) {
  return seconds < 1 ? fixedPoint(1e3 * seconds, 2) + " ms" : fixedPoint(seconds, 2) + " s";
}

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

void escape(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto hex = [&out, kDigits](unsigned char byte) {
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 … U+009F are control characters too.
    const bool secondSet =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte < 0x20 || byte == 0x7F) {
      hex(byte);
    } else if (secondSet) {
      hex(byte);
      hex(static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
}

std::string inQuotes(std::string_view text) {
  std::string out = "\"";
  if (text.size() <= kLongestText) {
    escape(out, text);
    return out + "\"";
  }
  std::size_t end = kLongestText;
  while (end > 0 && isContinuation(text[end])) --end;
  escape(out, text.substr(0, end));
  return out + "…\"";
}

std::string plain(std::string_view text) {
  std::string out;
  escape(out, text.substr(0, 4 * kLongestText));
  return out;
}

std::string place(std::uint32_t segment, std::int32_t virtualIndex) {
  return "segment " + std::to_string(segment) + ", block " + std::to_string(virtualIndex);
}
std::string physical(BlockId block) {
  return "physical block " + std::to_string(block);
}

std::string keyText(const BlockKey& key) {
  char text[32];
  std::snprintf(text, sizeof(text), "%08llx", static_cast<unsigned long long>(key.high >> 32));
  return text;
}

std::string bytesText(std::uint64_t bytes) {
  constexpr double kMebibyte = 1 << 20;
  const auto mebibytes = static_cast<double>(bytes) / kMebibyte;
  return mebibytes < 1 ? std::to_string(bytes) + " bytes" : fixedPoint(mebibytes, 0) + " MiB";
}
std::string leftOutText(const AttentionLeftOut& e) {
  return counted(e.leftOut, "record") + " of attention left out beside " + std::to_string(e.recorded) +
         ": limit of " + bytesText(e.limit) + " a run";
}

struct Describer {
  std::string operator()(const SessionStarted& e) const {
    return plain(e.program) + ", model " + plain(e.model) + ", " + plain(e.backend) + ", " +
           counted(e.threads, "thread") + ", " + poolText(e.pool);
  }
  static std::string poolText(const PoolState& pool) {
    return counted(pool.blocks.size(), "block") + " of " + counted(pool.blockSize, "token") + ", " +
           std::to_string(pool.freeOrder.size()) + " free";
  }
  std::string operator()(const RunStarted& e) const {
    return "policy " + plain(e.policy) + ", seed " + std::to_string(e.seed) + ", query " +
           inQuotes(e.queryJson);
  }
  std::string operator()(const RunFinished& e) const {
    return std::string(enumName(e.outcome)) + ": " + inQuotes(e.answer);
  }
  std::string operator()(const FragmentsRetrieved& e) const {
    std::uint64_t inPrompt = 0;
    for (const FragmentInfo& fragment : e.fragments) inPrompt += fragment.inPrompt ? 1 : 0;
    std::string out = counted(inPrompt, "fragment") + " of " + counted(e.documents, "document") + " (" +
                      std::string(enumName(e.ranking)) + ") for " + inQuotes(e.question);
    if (!e.fragments.empty()) {
      const FragmentInfo& first = e.fragments.front();
      out += ", first " + inQuotes(first.text) + " of " + inQuotes(first.source) + ", score " +
             fixedPoint(first.score, 4);
    }
    return out;
  }
  std::string operator()(const PlanMade& e) const { return counted(e.steps.size(), "step"); }
  std::string operator()(const StepStarted& e) const {
    return "step " + std::to_string(e.step) + ", copy " + std::to_string(e.copy);
  }
  std::string operator()(const StepFinished& e) const {
    return "step " + std::to_string(e.step) + ", " + std::string(enumName(e.outcome)) + ": " +
           inQuotes(e.text);
  }
  std::string operator()(const SpanTableLaidOut& e) const {
    std::string out = counted(e.segments.size(), "segment");
    std::uint64_t tokens = 0;
    std::uint64_t independent = 0;
    for (const SegmentInfo& segment : e.segments) {
      tokens += segment.tokens.size();
      independent += segment.independent ? 1 : 0;
    }
    return out + " (" + std::to_string(independent) + " independent), " + counted(tokens, "token");
  }
  std::string operator()(const BlockLookedUp& e) const {
    std::string out = place(e.segment, e.virtualIndex) + ": " + std::string(enumName(e.outcome)) + ", " +
                      std::to_string(e.tokens) + " of " + counted(e.wanted, "token");
    if (e.outcome != LookupOutcome::Miss) {
      out += " in " + physical(e.block) + ", stored ";
      out += e.storedByRequest == 0 ? "elsewhere"
                                    : "by run " + std::to_string(e.storedByRun) + " request " +
                                          std::to_string(e.storedByRequest) + " " + plain(e.storedByNode);
      if (e.outcome == LookupOutcome::Relocated) {
        out += ", from position " + std::to_string(e.storedBase) + " to " + std::to_string(e.base);
      }
    }
    if (e.reason != MissReason::None) out += ", " + std::string(enumName(e.reason));
    if (e.reason == MissReason::TokensDiffer) {
      out += " at token " + std::to_string(e.differsAt) + " (wanted " + std::to_string(e.tokenWanted) +
             ", stored " + std::to_string(e.tokenStored) + ")";
    }
    if (e.reason == MissReason::Evicted) out += " by event " + std::to_string(e.evictedBy);
    if (e.reason == MissReason::ContextDiffers)
      out += " from seen segment " + std::to_string(e.contextDiffersAt);
    return out;
  }
  std::string operator()(const BlockAllocated& e) const {
    return physical(e.block) + " for " + place(e.segment, e.virtualIndex);
  }
  std::string operator()(const BlockShared& e) const {
    return physical(e.block) + " for " + place(e.segment, e.virtualIndex) + ", " +
           counted(e.references, "reference");
  }
  std::string operator()(const BlockStored& e) const {
    return physical(e.block) + " with " + counted(e.tokens.size(), "token") + " of " +
           place(e.segment, e.virtualIndex) + ", key " + keyText(e.key);
  }
  std::string operator()(const BlockRemoved& e) const {
    return physical(e.block) + ", key " + keyText(e.key) + ", " + std::string(enumName(e.reason));
  }
  std::string operator()(const BlockCopied& e) const {
    return counted(e.slots, "slot") + " of " + physical(e.source) + " to " + physical(e.target);
  }
  std::string operator()(const BlockLoaded& e) const {
    return counted(e.tokens, "token") + " of " + place(e.segment, e.virtualIndex) + " into " +
           physical(e.block) + " from " + tierText(e.tier) + ", " + bytesText(e.bytes) + " in " +
           fixedPoint(static_cast<double>(e.nanoseconds) / 1e6, 3) + " ms, key " + keyText(e.key);
  }
  std::string operator()(const BlockSpilled& e) const {
    return counted(e.tokens, "token") + " of " + physical(e.block) + " to " + tierText(e.tier) + ", " +
           bytesText(e.bytes) + ", key " + keyText(e.key);
  }
  std::string operator()(const StoreReported& e) const {
    std::string out;
    for (const StoreTierState& tier : e.tiers) {
      if (!out.empty()) out += "; ";
      out += tierText(tier.tier) + ": " + counted(tier.blocks, "block") + " with " +
             counted(tier.tokens, "token") + ", " + bytesText(tier.bytes) + " of " + bytesText(tier.limit);
    }
    return out.empty() ? "no tier is in use" : out;
  }
  static std::string tierText(StoreTier tier) { return tier == StoreTier::Disk ? "the disk" : "host memory"; }
  std::string operator()(const BlockReleased& e) const {
    return physical(e.block) + ", " + counted(e.references, "reference");
  }
  std::string operator()(const CacheCleared&) const { return "nothing can be found any more"; }
  std::string operator()(const RequestAdmitted& e) const {
    const std::string found = ", " + std::to_string(e.cachedTokens) + " cached, " +
                              std::to_string(e.relocatedTokens) + " of them relocated";
    if (!e.resumed) return counted(e.promptTokens, "prompt token") + found;
    return "resumed with " + counted(e.promptTokens, "token") + found + ", " +
           std::to_string(e.recomputedTokens) + " computed again";
  }
  std::string operator()(const RequestPreempted& e) const {
    return "gives back " + counted(e.blocks, "block") + " with " +
           counted(e.computedTokens, "computed token") + ", request " + std::to_string(e.requester) +
           " needs room";
  }
  std::string operator()(const RequestDeferred& e) const {
    return plain(e.reason) + (e.waitFor != 0 ? ", waits for request " + std::to_string(e.waitFor) : "");
  }
  std::string operator()(const BatchComputed& e) const {
    std::int64_t rows = 0;
    std::int64_t decodes = 0;
    for (const BatchEntry& entry : e.entries) {
      rows += entry.count;
      decodes += entry.decode ? 1 : 0;
    }
    return counted(rows, "row") + " of " + counted(e.entries.size(), "entry", "entries") + " (" +
           counted(decodes, "decode") + ") in " + fixedPoint(static_cast<double>(e.nanoseconds) / 1e6, 3) +
           " ms";
  }
  std::string operator()(const TokenGenerated& e) const {
    return "token " + std::to_string(e.index) + ": " + std::to_string(e.token) + " " + inQuotes(e.shown) +
           ", probability " + fixedPoint(static_cast<double>(e.probability), 4);
  }
  std::string operator()(const AttentionMass& e) const {
    return (e.layer < 0 ? "mean of the layers" : "layer " + std::to_string(e.layer)) + ", " + queryText(e) +
           ", " + counted(e.heads, "head") + ", " + counted(e.keySegments.size(), "key segment");
  }
  std::string operator()(const SegmentAttention& e) const {
    return (e.index >= 0 ? "of token " + std::to_string(e.index) + ", " : std::string()) + queryText(e) +
           ", " + counted(e.layers.size(), "layer") + ", " + counted(e.heads, "head") + ", " +
           counted(e.keySegments.size(), "key segment");
  }
  std::string operator()(const AttentionReplayed& e) const {
    return "layer " + std::to_string(e.layer) + ", " +
           (e.head < 0 ? std::string("all heads") : "head " + std::to_string(e.head)) + " by " +
           (e.singleKeys ? "token" : "block") + ", " + counted(e.rows, "row") + " computed again over " +
           counted(e.cachedTokens, "cached token") + " and " + std::to_string(e.recomputedTokens) +
           " computed again";
  }
  std::string operator()(const TokensRecomputed& e) const {
    std::size_t count = 0;
    for (const RecomputedTokens& segment : e.segments) count += segment.tokens.size();
    return std::to_string(count) + " of " + counted(e.tokens, "token") + " computed again, chosen in layer " +
           std::to_string(e.layer);
  }
  static std::string requestsText(const std::vector<RequestId>& requests) {
    std::string text;
    for (const RequestId request : requests) text += (text.empty() ? "" : ", ") + std::to_string(request);
    return text;
  }
  std::string operator()(const TeamFormed& e) const {
    return "requests " + requestsText(e.requests) + " read each other's replies as they are written";
  }
  std::string operator()(const TeammateAttention& e) const {
    float share = 0;
    for (const float mass : e.mass) share += mass;
    return "of token " + std::to_string(e.index) + ", " + fixedPoint(static_cast<double>(share) * 100, 1) +
           " % on the replies of requests " + requestsText(e.requests);
  }
  std::string operator()(const ReplayedMass& e) const {
    return "of token " + std::to_string(e.index) + ", " + (*this)(e.mass);
  }
  std::string operator()(const LayoutChosen& e) const {
    return plain(e.layout) + " in blocks of " + counted(e.blockSize, "token") + ", pad " +
           std::to_string(e.pad) + ", plus " + std::to_string(e.plus) + ", cross " + std::to_string(e.cross);
  }
  std::string operator()(const LayoutApplied& e) const {
    std::int64_t pads = 0;
    std::int64_t markers = 0;
    std::size_t cropped = 0;
    for (const LayoutRun& run : e.runs) (run.role == LayoutRole::Pad ? pads : markers) += run.count;
    for (const CroppedRun& run : e.cropped) cropped += run.tokens.size();
    return counted(pads, "pad") + ", " + counted(markers, "marker") + ", " + counted(cropped, "token") +
           " cropped";
  }
  std::string operator()(const FidelityMeasured& e) const {
    const FidelityMeasured* one = &e;
    return fidelityText(fidelityOf(std::span(&one, 1)));
  }
  template <class Rows>
  static std::string queryText(const Rows& e) {
    return place(e.segment, e.virtualIndex) +
           (e.row >= 0 ? ", row " + std::to_string(e.row) : ", " + counted(e.rows, "row"));
  }
  std::string operator()(const AttentionLeftOut& e) const { return leftOutText(e); }
  std::string operator()(const StepMetrics& e) const {
    return "step " + std::to_string(e.step) + ": prompt " + std::to_string(e.promptTokens) + ", cached " +
           std::to_string(e.cachedTokens) + ", relocated " + std::to_string(e.relocatedTokens) +
           ", computed " + std::to_string(e.computedTokens) + ", generated " +
           std::to_string(e.generatedTokens) + preempted(e) + ", first token after " +
           fixedPoint(e.timeToFirstToken * 1e3, 2) + " ms, then " + fixedPoint(e.interTokenLatency * 1e3, 2) +
           " ms a token";
  }
  static std::string preempted(const StepMetrics& e) {
    if (e.preemptions == 0) return {};
    return ", preempted " + counted(e.preemptions, "time") + ", " + std::to_string(e.recomputedTokens) +
           " computed again";
  }
  std::string operator()(const MessageLogged& e) const {
    return std::string(enumName(e.severity)) + ": " + plain(e.text);
  }
  std::string operator()(const Snapshot& e) const {
    return counted(e.lost, "event") + " not delivered; " + poolText(e.pool);
  }
};

void addTo(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

struct RequestSums {
  RequestAdmitted admitted;
  std::int64_t computed = 0;
  std::int64_t generated = 0;
  bool preempted = false;
  bool finished = false;
  std::optional<StepMetrics> metrics;
};

struct Collector {
  TraceStats& stats;
  const Event& event;
  std::map<RequestId, RequestSums>& requests;
  std::set<RunId>& runs;
  std::int64_t& rows;
  std::map<RunId, std::uint64_t>& leftOut;

  void operator()(const AttentionLeftOut& e) const { leftOut[event.run] = e.leftOut; }
  void operator()(const StepFinished&) const {
    if (event.request != 0) requests[event.request].finished = true;
  }
  void operator()(const BlockLookedUp& e) const {
    // A resumed request mostly finds itself, which says nothing about reuse.
    if (requests[event.request].preempted) return;
    ++stats.blocksLookedUp;
    if (e.outcome == LookupOutcome::Hit) ++stats.blocksHit;
    if (e.outcome == LookupOutcome::Relocated) ++stats.blocksRelocated;
    if (e.outcome == LookupOutcome::Partial) ++stats.blocksPartial;
    if (e.outcome == LookupOutcome::Miss) ++stats.blocksMissed;
  }
  void operator()(const BlockAllocated&) const { ++stats.blocksAllocated; }
  void operator()(const BlockStored&) const { ++stats.blocksStored; }
  void operator()(const BlockRemoved& e) const {
    if (e.reason == RemovalReason::Evicted) ++stats.blocksEvicted;
  }
  void operator()(const BlockCopied&) const { ++stats.blocksCopied; }
  void operator()(const RequestAdmitted& e) const {
    if (event.request == 0) return;
    if (!e.resumed) {
      requests[event.request].admitted = e;
      return;
    }
    addTo(stats.resumedTokens, e.promptTokens);
    addTo(stats.resumedCachedTokens, e.cachedTokens);
    addTo(stats.recomputedTokens, e.recomputedTokens);
  }
  void operator()(const RequestPreempted&) const {
    ++stats.preemptions;
    requests[event.request].preempted = true;
  }
  void operator()(const BatchComputed& e) const {
    ++stats.passes;
    stats.passTime += static_cast<double>(e.nanoseconds) / kNanoseconds;
    for (const BatchEntry& entry : e.entries) {
      addTo(rows, entry.count);
      if (!entry.decode && !entry.repeated && entry.request != 0)
        addTo(requests[entry.request].computed, entry.count);
    }
  }
  void operator()(const TokenGenerated&) const {
    if (event.request != 0) ++requests[event.request].generated;
  }
  void operator()(const StepMetrics& e) const {
    if (event.request != 0) requests[event.request].metrics = e;
  }
  void operator()(const MessageLogged& e) const {
    if (e.severity == Severity::Warning) ++stats.warnings;
    if (e.severity == Severity::Error) ++stats.errors;
  }
  void operator()(const Snapshot& e) const { stats.lost += e.lost; }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

std::string describe(const Event& event) {
  std::string out = "#" + std::to_string(event.sequence) + " " +
                    fixedPoint(static_cast<double>(event.time) / kNanoseconds, 6) + "s " +
                    eventName(event.payload);
  if (event.run != 0) out += " run " + std::to_string(event.run);
  if (event.request != 0) out += " request " + std::to_string(event.request);
  if (!event.node.empty()) out += " " + plain(event.node);
  return out + ": " + std::visit(Describer{}, event.payload);
}

TraceStats stats(std::span<const Event> events) {
  TraceStats result;
  std::map<RequestId, RequestSums> requests;
  std::set<RunId> runs;
  std::int64_t rows = 0;
  std::map<RunId, std::uint64_t> leftOut;
  HitRates hitRates;
  ResidencySampler residencies;
  for (const Event& event : events) {
    hitRates.take(event);
    residencies.take(event);
    // A request of no run is the replay of another, which was counted.
    const bool isPass = std::holds_alternative<BatchComputed>(event.payload);
    if (event.run == 0 && (event.request != 0 || isPass)) continue;
    if (event.run != 0) runs.insert(event.run);
    if (event.request != 0) requests.try_emplace(event.request);
    std::visit(Collector{result, event, requests, runs, rows, leftOut}, event.payload);
  }
  result.events = events.size();
  result.runs = runs.size();
  result.requests = requests.size();
  result.recent = hitRates.recent().sums();
  result.residency = figuresOf(residencies.evicted());
  for (const auto& [run, missing] : leftOut) result.attentionLeftOut += missing;
  if (!events.empty()) {
    result.duration =
        (static_cast<double>(events.back().time) - static_cast<double>(events.front().time)) / kNanoseconds;
  }
  std::vector<double> firstTokens;
  std::vector<double> latencies;
  for (const auto& [id, request] : requests) {
    if (request.finished) ++result.finishedRequests;
    const StepMetrics sums =
        request.metrics.value_or(StepMetrics{.promptTokens = request.admitted.promptTokens,
                                             .cachedTokens = request.admitted.cachedTokens,
                                             .relocatedTokens = request.admitted.relocatedTokens,
                                             .computedTokens = request.computed,
                                             .generatedTokens = request.generated});
    addTo(result.promptTokens, sums.promptTokens);
    addTo(result.cachedTokens, sums.cachedTokens);
    addTo(result.relocatedTokens, sums.relocatedTokens);
    addTo(result.computedTokens, sums.computedTokens);
    addTo(result.generatedTokens, sums.generatedTokens);
    if (request.metrics && sums.generatedTokens >= 1) firstTokens.push_back(sums.timeToFirstToken);
    if (request.metrics && sums.generatedTokens >= 2) latencies.push_back(sums.interTokenLatency);
  }
  if (result.promptTokens > 0) {
    result.hitRate = static_cast<double>(result.cachedTokens) / static_cast<double>(result.promptTokens);
  }
  if (result.passes > 0)
    result.meanRowsPerPass = static_cast<double>(rows) / static_cast<double>(result.passes);
  result.timeToFirstToken = medianOf(std::move(firstTokens)).value_or(0);
  result.interTokenLatency = medianOf(std::move(latencies)).value_or(0);
  return result;
}

std::string statsTable(const TraceStats& s) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&lines](const char* name, auto value) {
    if constexpr (std::is_integral_v<decltype(value)>) {
      lines.emplace_back(name, std::to_string(value));
    } else {
      lines.emplace_back(name, std::move(value));
    }
  };
  add("events", s.events);
  if (s.lost > 0) add("events not delivered", s.lost);
  add("duration", fixedPoint(s.duration, 3) + " s");
  add("runs", s.runs);
  add("requests", s.requests);
  add("  finished", s.finishedRequests);
  add("prompt tokens", s.promptTokens);
  add("  cached", s.cachedTokens);
  add("  of them relocated", s.relocatedTokens);
  add("  computed", s.computedTokens);
  add("generated tokens", s.generatedTokens);
  add("hit rate", fixedPoint(100 * s.hitRate, 1) + " %");
  // Where the window holds all there was, the two are one.
  if (s.recent.requests > 0 && static_cast<std::uint64_t>(s.recent.requests) < s.requests)
    add("  last requests", fixedPoint(100 * s.recent.rate(), 1) + " % of " +
                               counted(static_cast<std::uint64_t>(s.recent.requests), "request"));
  add("blocks looked up", s.blocksLookedUp);
  add("  hit", s.blocksHit);
  add("  relocated", s.blocksRelocated);
  add("  partial", s.blocksPartial);
  add("  missed", s.blocksMissed);
  add("blocks allocated", s.blocksAllocated);
  add("blocks stored", s.blocksStored);
  add("blocks evicted", s.blocksEvicted);
  add("blocks copied", s.blocksCopied);
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
  add("forward passes", s.passes);
  add("  mean rows", fixedPoint(s.meanRowsPerPass, 1));
  add("  time", fixedPoint(s.passTime, 3) + " s");
  add("time to first token", fixedPoint(1e3 * s.timeToFirstToken, 2) + " ms (median)");
  add("inter-token latency", fixedPoint(1e3 * s.interTokenLatency, 2) + " ms (median)");
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

}  // namespace spanscope::trace
