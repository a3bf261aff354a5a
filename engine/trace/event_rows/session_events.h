// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of events about sessions and their runs (engine/trace/event_fields.h). Open this file to change
// such an event.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/trace/event.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/event_words.h"
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
template <class V, Is<SessionStarted> X>
void fields(V&& v, X& x) {
  v("program", x.program);
  v("model", x.model);
  v("backend", x.backend);
  v("threads", x.threads);
  v("layers", x.layers);
  v("heads", x.heads);
  v("pool", x.pool);
}

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
template <class V, Is<WindowsReported> X>
void fields(V&& v, X& x) {
  v("windows", x.windows);
}

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
template <class V, Is<RunStarted> X>
void fields(V&& v, X& x) {
  v("queryJson", x.queryJson);
  v("policy", x.policy);
  v("seed", x.seed);
}

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
template <class V, Is<LayoutChosen> X>
void fields(V&& v, X& x) {
  v("layout", x.layout);
  v("blockSize", x.blockSize);
  v("pad", x.pad);
  v("plus", x.plus);
  v("cross", x.cross);
}

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
template <class V, Is<PlanMade> X>
void fields(V&& v, X& x) {
  v("steps", x.steps);
  v("explain", x.explain);
}

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
    return {forTranslation("Events", "Retrieved %1 passages of %2 documents for %3"),
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
template <class V, Is<RunFinished> X>
void fields(V&& v, X& x) {
  v("outcome", x.outcome);
  v("answer", x.answer);
}

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
template <class V, Is<MessageLogged> X>
void fields(V&& v, X& x) {
  v("severity", x.severity);
  v("text", x.text);
}

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
template <class V, Is<Snapshot> X>
void fields(V&& v, X& x) {
  v("pool", x.pool);
  v("lost", x.lost);
}

}  // namespace spanscope::trace
