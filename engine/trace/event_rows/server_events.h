// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of events about other servers (engine/trace/event_fields.h). Open this file to change such an
// event.
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
template <class V, Is<ServerChosen> X>
void fields(V&& v, X& x) {
  v("name", x.name);
  v("kind", x.kind);
  v("title", x.title);
  v("version", x.version);
  v("address", x.address);
  v("reportsCached", x.reportsCached);
  v("reportsProgress", x.reportsProgress);
  v("takesQueries", x.takesQueries);
}

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
template <class V, Is<RequestSent> X>
void fields(V&& v, X& x) {
  v("server", x.server);
  v("model", x.model);
  v("bytes", x.bytes);
}

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
template <class V, Is<PromptReported> X>
void fields(V&& v, X& x) {
  v("total", x.total);
  v("cached", x.cached);
  v("processed", x.processed);
}

template <>
struct Facts<TextReceived> : UsualFacts {
  static constexpr const char* kName = "text_received";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const TextReceived&) { return forTranslation("Events", "Text received"); }
  static EventWords detail(const TextReceived& e) { return {"%1", {ShortText{e.text}}}; }
  static std::string line(const TextReceived& e) { return inQuotes(e.text); }
};
template <class V, Is<TextReceived> X>
void fields(V&& v, X& x) {
  v("text", x.text);
}

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
template <class V, Is<ServerReported> X>
void fields(V&& v, X& x) {
  v("step", x.step);
  v("server", x.server);
  v("model", x.model);
  v("promptTokens", x.promptTokens);
  v("cached", x.cached);
  v("cachedTokens", x.cachedTokens);
  v("generatedTokens", x.generatedTokens);
  v("timeToFirstToken", x.timeToFirstToken);
  v("seconds", x.seconds);
  v("finish", x.finish);
  v("brokenBy", x.brokenBy);
}

}  // namespace spanscope::trace
