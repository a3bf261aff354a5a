// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the job that probes a checkpoint (engine/experiment/probe.h): is block attention safe on this
// checkpoint, and which policy repairs it? The same questions go to the bundled model. Open this file to
// change the progress or the result of the probe.
#pragma once

#include "engine/experiment/probe.h"
#include "engine/jobs/experiment.h"
#include "engine/jobs/measuring_job.h"
#include "engine/trace/part_fields.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::jobs {

struct ProbeChoice {
  std::vector<std::string> policies{};  ///< as documents write them; empty: experiment::probedPolicies()
  std::string model{};                  ///< RunSettings::model
  std::string adapter{};                ///< RunSettings::adapter
  bool asksOwn = false;                 ///< also measure the documents and the question of the user's query
  std::optional<OwnQuery> own{};        ///< these documents; nothing: an augment still has to find them
  bool operator==(const ProbeChoice&) const = default;
};

struct Probe {
  ProbeChoice choice;               ///< complete
  experiment::ProbedModel model{};  ///< an empty name: the model is still being loaded
  std::optional<experiment::ProbedModel>
      bundled{};                 ///< nothing: not measured, or `model` is the bundled model
  std::string bundledProblem{};  ///< why the bundled model could not be measured
  std::size_t samples = 0;       ///< of `model`, when all are measured; 0: not known yet
  bool measuresBundled = false;  ///< the bundled model is measured, too
  bool operator==(const Probe&) const = default;

  /// The completed share, 0 … 1.
  double progress() const;
  std::vector<experiment::ProbeRow> rows(std::optional<bool> isOwn = {}) const {
    return experiment::probeRows(model, choice.policies, isOwn);
  }
  std::vector<experiment::ProbeRow> bundledRows() const;
  std::vector<std::string> sentences() const;
  std::string recommended() const { return experiment::recommendedPolicy(rows()); }
  experiment::HeatChart chart() const;
};

struct ProbeJob {
  static constexpr const char* kId = "probe";
  static constexpr Scope kScope = Scope::Document;
  using Arguments = ProbeChoice;
  using Result = Probe;

  static bool takesQuery(const ProbeChoice& choice) { return choice.asksOwn && !choice.own; }
  static ProbeChoice completed(ProbeChoice choice, const JobInput& input);
  static bool isSound(const Probe& probe);
  static std::optional<experiment::TokenAmount> amount(const ProbeChoice& choice, const EstimateFacts& facts);
  static Probe begun(const ProbeChoice& choice) { return {.choice = choice}; }
  static double progress(const Probe& probe) { return probe.progress(); }
  static trace::EventWords activity(const Probe& probe);
  static void measure(Probe& probe, const ProbeChoice& choice, Measurement& at);
};

}  // namespace spanscope::jobs

namespace spanscope::experiment {
SPANSCOPE_FIELDS(ProbeSample, problem, tokens, agreeing, divergence, mostDivergence, sameAnswer, answer,
                 promptTokens, recomputed, computed, seconds);
SPANSCOPE_FIELDS(ProbedQuestion, name, isOwn, answer, samples);
SPANSCOPE_FIELDS(ProbedModel, name, device, isTrained, questions);
}  // namespace spanscope::experiment

namespace spanscope::jobs {
SPANSCOPE_FIELDS(ProbeChoice, policies, model, adapter, asksOwn, own);
SPANSCOPE_FIELDS(Probe, choice, model, bundled, bundledProblem, samples, measuresBundled);
}  // namespace spanscope::jobs
