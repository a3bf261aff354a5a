// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of events about sessions, their runs, and other servers (engine/trace/event_fields.h). Open this
// file to change such an event.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/trace/event.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/part_fields.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace spanscope::trace {

template <>
struct Facts<SessionStarted> : UsualFacts {
  static constexpr const char* kName = "session_started";
  static constexpr PoolEffect kPool = PoolEffect::Replaces;
  static const char* plain(const SessionStarted&) { return forTranslation("Events", "Session started"); }
  static std::string line(const SessionStarted& e) {
    const std::string model = e.model.empty() ? std::string() : ", model " + escaped(e.model);
    return escaped(e.program) + model + ", " + escaped(e.backend) + ", " + counted(e.threads, "thread") +
           ", " + poolText(e.pool);
  }
  static std::optional<Severity> severity(const SessionStarted&) { return Severity::Note; }
  static EventWords words(const SessionStarted& e, const Event&) {
    if (e.model.empty()) return {forTranslation("Events", "Session started: %1"), {e.backend}};
    return {forTranslation("Events", "Session started: %1, %2"), {e.model, e.backend}};
  }
};
SPANSCOPE_FIELDS(SessionStarted, program, model, backend, threads, layers, heads, pool);

template <>
struct Facts<WindowsReported> : UsualFacts {
  static constexpr const char* kName = "windows_reported";
  static constexpr About kAbout = About::Run;
  static const char* plain(const WindowsReported&) {
    return forTranslation("Events", "Attention windows reported");
  }
  static std::string line(const WindowsReported& e) {
    std::string out = counted(e.windows.size(), "layer") + ":";
    for (const std::int32_t window : e.windows) out += window == 0 ? " all" : " " + std::to_string(window);
    return out;
  }
};
SPANSCOPE_FIELDS(WindowsReported, windows);

template <>
struct Facts<RunStarted> : UsualFacts {
  static constexpr const char* kName = "run_started";
  static constexpr About kAbout = About::Run;
  static constexpr Indexed kIndexed{.inSession = true};
  static const char* plain(const RunStarted&) { return forTranslation("Events", "Run started"); }
  static EventWords detail(const RunStarted& e) {
    return {forTranslation("Events", "policy %1"), {ShortText{e.policy}}};
  }
  static std::string line(const RunStarted& e) {
    return "policy " + escaped(e.policy) + ", seed " + std::to_string(e.seed) + ", query " +
           inQuotes(e.queryJson);
  }
  static std::optional<Severity> severity(const RunStarted&) { return Severity::Note; }
  static EventWords words(const RunStarted& e, const Event& event) {
    return {forTranslation("Events", "Run %1 started: policy %2, seed %3"), {event.run, e.policy, e.seed}};
  }
};
SPANSCOPE_FIELDS(RunStarted, queryJson, policy, seed);

template <>
struct Facts<LayoutChosen> : UsualFacts {
  static constexpr const char* kName = "layout_chosen";
  static constexpr Indexed kIndexed{.byRun = true};
  static std::optional<Error> fault(const LayoutChosen& e) {
    if (e.blockSize < 1) return errorAt("block size", std::to_string(e.blockSize), "at least 1");
    return std::nullopt;
  }
  static const char* plain(const LayoutChosen&) { return forTranslation("Events", "Layout chosen"); }
  static EventWords detail(const LayoutChosen& e) {
    return {forTranslation("Events", "layout %1"), {ShortText{e.layout}}};
  }
  static std::string line(const LayoutChosen& e) {
    return escaped(e.layout) + " in blocks of " + counted(e.blockSize, "token") + ", pad " +
           std::to_string(e.pad) + ", plus " + std::to_string(e.plus) + ", cross " + std::to_string(e.cross);
  }
};
SPANSCOPE_FIELDS(LayoutChosen, layout, blockSize, pad, plus, cross);

template <>
struct Facts<PlanMade> : UsualFacts {
  static constexpr const char* kName = "plan_made";
  static constexpr About kAbout = About::Run;
  static const char* plain(const PlanMade&) { return forTranslation("Events", "Plan made"); }
  static EventWords detail(const PlanMade& e) {
    return {forTranslation("Events", "steps: %1"), {std::uint64_t{e.steps.size()}}};
  }
  static std::string line(const PlanMade& e) { return counted(e.steps.size(), "step"); }
  static std::optional<Severity> severity(const PlanMade&) { return Severity::Note; }
  static EventWords words(const PlanMade& e, const Event&) {
    if (e.steps.size() == 1) return {forTranslation("Events", "Plan made: 1 step"), {}};
    return {forTranslation("Events", "Plan made: %1 steps"), {std::uint64_t{e.steps.size()}}};
  }
};
SPANSCOPE_FIELDS(PlanMade, steps, explain);

template <>
struct Facts<PassagesRetrieved> : UsualFacts {
  static constexpr const char* kName = "fragments_retrieved";
  static constexpr About kAbout = About::Run;
  static std::optional<Error> fault(const PassagesRetrieved& e) {
    for (const PassageInfo& passage : e.passages) {
      for (const double score : {passage.score, passage.lexicalScore, passage.embeddingScore}) {
        if (!std::isfinite(score)) return errorAt("score", "an invalid number", "a finite number");
      }
    }
    return std::nullopt;
  }
  static std::uint64_t inPrompt(const PassagesRetrieved& e) {
    std::uint64_t count = 0;
    for (const PassageInfo& passage : e.passages) count += passage.inPrompt ? 1 : 0;
    return count;
  }
  static const char* plain(const PassagesRetrieved&) {
    return forTranslation("Events", "Passages retrieved");
  }
  static EventWords detail(const PassagesRetrieved& e) {
    return {forTranslation("Events", "passages: %1, of documents: %2"), {inPrompt(e), e.documents}};
  }
  static std::string line(const PassagesRetrieved& e) {
    std::string out = counted(inPrompt(e), "passage") + " of " + counted(e.documents, "document") + " (" +
                      std::string(enumName(e.ranking)) + ") for " + inQuotes(e.question);
    if (!e.passages.empty()) {
      const PassageInfo& first = e.passages.front();
      out += ", first " + inQuotes(first.text) + " of " + inQuotes(first.source) + ", score " +
             fixedPoint(first.score, 4);
    }
    return out;
  }
  static std::optional<Severity> severity(const PassagesRetrieved&) { return Severity::Note; }
  static EventWords words(const PassagesRetrieved& e, const Event&) {
    return {forTranslation("Events", "%1 passages of %2 documents were retrieved for %3"),
            {inPrompt(e), e.documents, ShortText{e.question}}};
  }
};
template <class V, Is<PassagesRetrieved> X>
void fields(V&& v, X& x) {
  v("question", x.question);
  v("ranking", x.ranking);
  v("documents", x.documents);
  v("fragments", x.passages);
}

template <>
struct Facts<RunFinished> : UsualFacts {
  static constexpr const char* kName = "run_finished";
  static constexpr About kAbout = About::Run;
  static constexpr Indexed kIndexed{.byRun = true};
  static const char* plain(const RunFinished& e) {
    switch (e.outcome) {
      case RunOutcome::Finished:
        break;
      case RunOutcome::Stopped:
        return forTranslation("Events", "Run stopped");
      case RunOutcome::Failed:
        return forTranslation("Events", "Run failed");
    }
    return forTranslation("Events", "Run finished");
  }
  static std::string line(const RunFinished& e) {
    return std::string(enumName(e.outcome)) + ": " + inQuotes(e.answer);
  }
  static std::optional<Severity> severity(const RunFinished& e) {
    return e.outcome == RunOutcome::Failed    ? Severity::Error
           : e.outcome == RunOutcome::Stopped ? Severity::Warning
                                              : Severity::Note;
  }
  static EventWords words(const RunFinished& e, const Event& event) {
    switch (e.outcome) {
      case RunOutcome::Finished:
        break;
      case RunOutcome::Stopped:
        return {forTranslation("Events", "Run %1 was stopped"), {event.run}};
      case RunOutcome::Failed:
        return {forTranslation("Events", "Run %1 failed"), {event.run}};
    }
    return {forTranslation("Events", "Run %1 finished: %2"), {event.run, ShortText{e.answer}}};
  }
};
SPANSCOPE_FIELDS(RunFinished, outcome, answer);

template <>
struct Facts<MessageLogged> : UsualFacts {
  static constexpr const char* kName = "message_logged";
  static constexpr Indexed kIndexed{.inSession = true};
  static const char* plain(const MessageLogged& e) {
    switch (e.severity) {
      case Severity::Note:
        break;
      case Severity::Warning:
        return forTranslation("Events", "Warning");
      case Severity::Error:
        return forTranslation("Events", "Error");
    }
    return forTranslation("Events", "Message");
  }
  static EventWords detail(const MessageLogged& e) { return {"%1", {ShortText{e.text}}}; }
  static std::string line(const MessageLogged& e) {
    return std::string(enumName(e.severity)) + ": " + escaped(e.text);
  }
  static std::optional<Severity> severity(const MessageLogged& e) { return e.severity; }
  static EventWords words(const MessageLogged& e, const Event&) { return {"%1", {e.text}}; }
};
SPANSCOPE_FIELDS(MessageLogged, severity, text);

template <>
struct Facts<Snapshot> : UsualFacts {
  static constexpr const char* kName = "snapshot";
  static constexpr PoolEffect kPool = PoolEffect::Replaces;
  static const char* plain(const Snapshot&) { return forTranslation("Events", "State of the pool"); }
  static EventWords detail(const Snapshot& e) {
    return {forTranslation("Events", "events lost before: %1"), {e.lost}};
  }
  static std::string line(const Snapshot& e) {
    return counted(e.lost, "event") + " not delivered; " + poolText(e.pool);
  }
  static std::optional<Severity> severity(const Snapshot& e) {
    return e.lost == 0 ? std::nullopt : std::optional(Severity::Warning);
  }
  static EventWords words(const Snapshot& e, const Event&) {
    return {forTranslation("Events", "%1 events were lost; a snapshot replaces them"), {e.lost}};
  }
};
SPANSCOPE_FIELDS(Snapshot, pool, lost);

template <>
struct Facts<ServerChosen> : UsualFacts {
  static constexpr const char* kName = "server_chosen";
  static constexpr About kAbout = About::Run;
  static constexpr Indexed kIndexed{.inSession = true};
  static const char* plain(const ServerChosen&) { return forTranslation("Events", "Server chosen"); }
  static EventWords detail(const ServerChosen& e) {
    return {forTranslation("Events", "%1 at %2"), {ShortText{e.title}, ShortText{e.address}}};
  }
  static std::string line(const ServerChosen& e) {
    return escaped(e.name) + ": " + escaped(e.title) + (e.version.empty() ? "" : " " + escaped(e.version)) +
           " at " + escaped(e.address);
  }
  static std::optional<Severity> severity(const ServerChosen&) { return Severity::Note; }
  static EventWords words(const ServerChosen& e, const Event&) {
    return {forTranslation("Events", "%1 is %2 at %3"),
            {e.name, e.title + (e.version.empty() ? "" : " " + e.version), e.address}};
  }
};
SPANSCOPE_FIELDS(ServerChosen, name, kind, title, version, address, reportsCached, reportsProgress,
                 takesQueries);

template <>
struct Facts<RequestSent> : UsualFacts {
  static constexpr const char* kName = "request_sent";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const RequestSent&) { return forTranslation("Events", "Request sent"); }
  static EventWords detail(const RequestSent& e) {
    return {forTranslation("Events", "to %1, for %2"), {ShortText{e.server}, ShortText{e.model}}};
  }
  static std::string line(const RequestSent& e) {
    return "to " + escaped(e.server) + ", model " + escaped(e.model) + ", " + counted(e.bytes, "byte");
  }
};
SPANSCOPE_FIELDS(RequestSent, server, model, bytes);

template <>
struct Facts<PromptReported> : UsualFacts {
  static constexpr const char* kName = "prompt_reported";
  static constexpr About kAbout = About::Request;
  static std::optional<Error> fault(const PromptReported& e) {
    if (e.cached >= 0 && e.cached <= e.processed && e.processed <= e.total) return std::nullopt;
    return errorAt("token counts",
                   std::to_string(e.cached) + " cached of " + std::to_string(e.processed) + " read of " +
                       std::to_string(e.total),
                   "0 ≤ cached ≤ read ≤ total");
  }
  static const char* plain(const PromptReported&) {
    return forTranslation("Events", "Server reads the prompt");
  }
  static EventWords detail(const PromptReported& e) {
    return {forTranslation("Events", "read: %1 of %2 tokens"),
            {std::to_string(e.processed), std::to_string(e.total)}};
  }
  static std::string line(const PromptReported& e) {
    return "read " + std::to_string(e.processed) + " of " + counted(e.total, "token") + ", " +
           std::to_string(e.cached) + " of them cached";
  }
};
SPANSCOPE_FIELDS(PromptReported, total, cached, processed);

template <>
struct Facts<TextReceived> : UsualFacts {
  static constexpr const char* kName = "text_received";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const TextReceived&) { return forTranslation("Events", "Text received"); }
  static EventWords detail(const TextReceived& e) { return {"%1", {ShortText{e.text}}}; }
  static std::string line(const TextReceived& e) { return inQuotes(e.text); }
};
SPANSCOPE_FIELDS(TextReceived, text);

template <>
struct Facts<ServerReported> : UsualFacts {
  static constexpr const char* kName = "server_reported";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const ServerReported& e) {
    const bool isFound = e.cached == CachedState::Found;
    if (isFound != (e.cachedTokens > 0) || e.cachedTokens < 0)
      return errorAt("cached tokens", std::to_string(e.cachedTokens) + " " + std::string(enumName(e.cached)),
                     "a number above 0 only for the state found");
    if (e.promptTokens.value_or(0) < 0 || e.generatedTokens.value_or(0) < 0)
      return errorAt("token counts", "a negative number", "at least 0");
    if (e.promptTokens && e.cachedTokens > *e.promptTokens)
      return errorAt("cached tokens", std::to_string(e.cachedTokens),
                     "at most " + std::to_string(*e.promptTokens));
    const auto isTime = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
    if (!isTime(e.seconds) || !isTime(e.timeToFirstToken.value_or(0)))
      return errorAt("seconds", "an invalid duration", "a finite number of at least 0");
    return std::nullopt;
  }
  static const char* plain(const ServerReported& e) {
    return e.brokenBy.empty() ? forTranslation("Events", "Server reported")
                              : forTranslation("Events", "Server answer interrupted");
  }
  static std::string found(const ServerReported& e) {
    switch (e.cached) {
      case CachedState::Found:
      case CachedState::MeasuredZero:
        return std::to_string(e.cachedTokens);
      case CachedState::NotReported:
        return "not reported";
      case CachedState::CannotReport:
        break;
    }
    return "cannot be reported";
  }
  static std::string line(const ServerReported& e) {
    const auto count = [](const std::optional<std::int64_t>& tokens) {
      return tokens ? std::to_string(*tokens) : "not reported";
    };
    std::string out = "step " + std::to_string(e.step) + " on " + escaped(e.server) + ": prompt " +
                      count(e.promptTokens) + ", cached " + found(e) + ", generated " +
                      count(e.generatedTokens);
    if (e.timeToFirstToken) out += ", first text after " + fixedPoint(*e.timeToFirstToken * 1e3, 2) + " ms";
    out += ", all after " + fixedPoint(e.seconds * 1e3, 2) + " ms";
    if (!e.finish.empty()) out += ", ended by " + escaped(e.finish);
    return e.brokenBy.empty() ? out : out + ", interrupted: " + escaped(e.brokenBy);
  }
};
SPANSCOPE_FIELDS(ServerReported, step, server, model, promptTokens, cached, cachedTokens, generatedTokens,
                 timeToFirstToken, seconds, finish, brokenBy);

template <>
struct Facts<RequestPassed> : UsualFacts {
  static constexpr const char* kName = "request_passed";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const RequestPassed& e) {
    if (e.slots.value_or(1) >= 1) return std::nullopt;
    return errorAt("slots", std::to_string(*e.slots), "at least 1");
  }
  static const char* plain(const RequestPassed&) {
    return forTranslation("Events", "Request passed by a gateway");
  }
  static EventWords detail(const RequestPassed& e) { return {"%1", {ShortText{e.missing}}}; }
  static std::string line(const RequestPassed& e) {
    const std::string out = e.slots ? counted(*e.slots, "slot") : "slots not reported";
    return e.missing.empty() ? out : out + ", " + escaped(e.missing);
  }
};
SPANSCOPE_FIELDS(RequestPassed, slots, missing);

}  // namespace spanscope::trace
