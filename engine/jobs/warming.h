// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the job that computes documents before any question, and stores their blocks. Queries with such a
// document as a user's message under plus then reuse these blocks. Open this file to change how the cache is
// warmed.
#pragma once

#include "engine/jobs/measuring_job.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::jobs {

struct WarmingChoice {
  std::vector<std::string> documents;  ///< names, which JobInput::read takes
  bool operator==(const WarmingChoice&) const = default;
};

/// The result of warming one document.
struct WarmedDocument {
  std::int64_t tokens = 0;        ///< that queries will reuse
  std::int64_t storedTokens = 0;  ///< that were cached before
  double seconds = 0;
  std::string problem{};  ///< why the document could not be warmed; empty otherwise
};

struct Warming {
  std::vector<std::string> documents;  ///< as in the choice
  std::vector<WarmedDocument> warmed;  ///< the first documents, so far
};

/// Uses the session of the settings. An error in one document does not affect the others.
struct WarmingJob {
  static constexpr const char* kId = "warming";
  static constexpr Scope kScope = Scope::Program;
  using Arguments = WarmingChoice;
  using Result = Warming;

  static const char* unavailableReason(const WarmingChoice& choice, std::span<const AnswerFacts>) {
    return choice.documents.empty() ? forTranslation("Jobs", "There is no document to compute.") : nullptr;
  }
  static bool takesQuery(const WarmingChoice&) { return false; }
  static WarmingChoice completed(WarmingChoice choice, const JobInput&) { return choice; }
  static bool isSound(const Warming& warming) { return warming.warmed.size() <= warming.documents.size(); }
  static Warming begun(const WarmingChoice& choice) { return {.documents = choice.documents, .warmed = {}}; }
  static double progress(const Warming& warming);
  static trace::EventWords activity(const Warming& warming);
  static void measure(Warming& warming, const WarmingChoice& choice, Measurement& at);
};

template <class V, trace::Is<WarmingChoice> X>
void fields(V&& v, X& x) {
  v("documents", x.documents);
}
template <class V, trace::Is<WarmedDocument> X>
void fields(V&& v, X& x) {
  v("tokens", x.tokens);
  v("storedTokens", x.storedTokens);
  v("seconds", x.seconds);
  v("problem", x.problem);
}
template <class V, trace::Is<Warming> X>
void fields(V&& v, X& x) {
  v("documents", x.documents);
  v("warmed", x.warmed);
}

}  // namespace spanscope::jobs
