// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the job that measures how much each way to send a log changes the answers of a model
// (engine/doctor/quality.h). A full prefill of the prompt in the log is the reference. Open this file to
// change the progress or the result of the measurement.
#pragma once

#include "engine/doctor/doctor.h"
#include "engine/doctor/quality.h"
#include "engine/experiment/probe.h"
#include "engine/jobs/measuring_job.h"
#include "engine/jobs/probe.h"
#include "engine/trace/part_fields.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::jobs {

/// The sample of a log. A trace keeps the arguments of its jobs, so this sample lacks the texts of the log.
struct LogQualityChoice {
  std::string log;  ///< doctor::identityOf()
  std::vector<doctor::QualityGroup> groups;
  std::string model{};    ///< RunSettings::model
  std::string adapter{};  ///< RunSettings::adapter
  bool operator==(const LogQualityChoice&) const = default;
};

struct LogQuality {
  LogQualityChoice choice;                        ///< complete
  std::vector<experiment::ProbedModel> groups{};  ///< the results of each group, without texts of answers
  bool operator==(const LogQuality&) const = default;

  /// The completed share, 0 … 1.
  double progress() const;
  /// The name of the measured model; empty: the model is still being loaded.
  std::string model() const;
  /// Sets the quality of the ways, if the report is about this log. Ways without a measured request have no
  /// quality.
  void apply(doctor::LogReport& report) const;
  /// Why requests could not be measured, a line for each.
  std::vector<std::string> problems() const;
};

struct LogQualityJob {
  static constexpr const char* kId = "log-quality";
  static constexpr Scope kScope = Scope::Program;
  using Arguments = LogQualityChoice;
  using Result = LogQuality;

  static const char* unavailableReason(const LogQualityChoice& choice, std::span<const AnswerFacts>) {
    return choice.groups.empty() ? forTranslation("Jobs",
                                                  "No request of the log has an edit or parts that can "
                                                  "become spans. There is nothing to measure.")
                                 : nullptr;
  }
  static bool takesQuery(const LogQualityChoice&) { return false; }
  static LogQualityChoice completed(LogQualityChoice choice, const JobInput& input);
  static bool isSound(const LogQuality& quality);
  static std::optional<experiment::TokenAmount> amount(const LogQualityChoice&, const EstimateFacts&) {
    return std::nullopt;  // the estimate lacks the texts of the log
  }
  static LogQuality begun(const LogQualityChoice& choice) { return {.choice = choice}; }
  static double progress(const LogQuality& quality) { return quality.progress(); }
  static trace::EventWords activity(const LogQuality& quality);
  static void measure(LogQuality& quality, const LogQualityChoice& choice, Measurement& at);
};

/// A sample in the form of the job.
struct LogQualityRequest {
  LogQualityChoice choice;
  std::function<std::string(const std::string& name)> read;  ///< JobInput::read
};
LogQualityRequest logQualityRequest(const doctor::LogReport& report,
                                    std::vector<doctor::QualityGroup> sample);

}  // namespace spanscope::jobs

namespace spanscope::doctor {
SPANSCOPE_FIELDS(QualityPolicy, policy, ways);
SPANSCOPE_FIELDS(QualityQuestion, request);
SPANSCOPE_FIELDS(QualityGroup, policies, questions);
}  // namespace spanscope::doctor

namespace spanscope::jobs {
SPANSCOPE_FIELDS(LogQualityChoice, log, groups, model, adapter);
SPANSCOPE_FIELDS(LogQuality, choice, groups);
}  // namespace spanscope::jobs
