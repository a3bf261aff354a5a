// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/log_quality.h"

#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/workbench/experiment_model.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/speed_records.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace spanscope::jobs {
namespace {

std::string nameOf(std::size_t group, std::size_t question, bool isOriginal) {
  return std::to_string(group) + (isOriginal ? "/original/" : "/query/") + std::to_string(question);
}

query::Node queryFrom(const std::string& text) {
  query::ParseResult parsed = query::parseJson(text);
  if (!parsed.query) throw Failure(errorAt("the sample", "no query", "the query of a request"));
  return std::move(*parsed.query);
}

std::vector<experiment::ProbeQuestion> questionsOf(const doctor::QualityGroup& group, std::size_t index,
                                                   const JobInput& input) {
  std::vector<experiment::ProbeQuestion> questions;
  for (std::size_t i = 0; i < group.questions.size(); ++i) {
    experiment::ProbeQuestion question{.name = "request " + std::to_string(group.questions[i].request + 1),
                                       .query = queryFrom(input.read(nameOf(index, i, false))),
                                       .isOwn = true};
    if (const std::string original = input.read(nameOf(index, i, true)); !original.empty())
      question.reference = queryFrom(original);
    questions.push_back(std::move(question));
  }
  return questions;
}

std::vector<std::string> policiesOf(const doctor::QualityGroup& group) {
  std::vector<std::string> names;
  for (const doctor::QualityPolicy& one : group.policies) names.push_back(one.policy);
  return names;
}

/// A trace must not keep texts that the model wrote about the log.
void dropAnswers(experiment::ProbedModel& probed) {
  for (experiment::ProbedQuestion& question : probed.questions) {
    question.answer.clear();
    for (experiment::ProbeSample& sample : question.samples) sample.answer.clear();
  }
}

}  // namespace

double LogQuality::progress() const {
  std::size_t all = 0;
  for (const doctor::QualityGroup& group : choice.groups)
    all += group.questions.size() * group.policies.size();
  std::size_t done = 0;
  for (const experiment::ProbedModel& group : groups) done += group.samples();
  return all == 0 ? 0 : static_cast<double>(done) / static_cast<double>(all);
}

std::string LogQuality::model() const {
  return groups.empty() ? std::string() : groups.front().name;
}

void LogQuality::apply(doctor::LogReport& report) const {
  if (choice.log != doctor::identityOf(report)) return;
  report.qualityModel.clear();
  for (doctor::Way& way : report.ways) {
    doctor::WayQuality quality;
    for (std::size_t g = 0; g < groups.size() && g < choice.groups.size(); ++g) {
      const doctor::QualityGroup& group = choice.groups[g];
      for (std::size_t p = 0; p < group.policies.size(); ++p) {
        if (std::ranges::find(group.policies[p].ways, way.key) == group.policies[p].ways.end()) continue;
        for (std::size_t i = 0; i < groups[g].questions.size(); ++i) {
          const auto& samples = groups[g].questions[i].samples;
          if (p >= samples.size() || !samples[p].problem.empty() || samples[p].tokens == 0) continue;
          quality.requests.push_back({.request = group.questions[i].request,
                                      .divergence = samples[p].divergence,
                                      .tokens = samples[p].tokens,
                                      .agreeing = samples[p].agreeing});
        }
      }
    }
    way.quality.reset();
    if (quality.requests.empty()) continue;
    way.quality = std::move(quality);
    report.qualityModel = model();
  }
}

std::vector<std::string> LogQuality::problems() const {
  std::vector<std::string> lines;
  for (const experiment::ProbedModel& group : groups) {
    for (const experiment::ProbedQuestion& question : group.questions) {
      const auto failed = std::ranges::find_if(
          question.samples, [](const experiment::ProbeSample& one) { return !one.problem.empty(); });
      if (failed != question.samples.end())
        lines.push_back(question.name + ": not measured: " + failed->problem);
    }
  }
  return lines;
}

LogQualityChoice LogQualityJob::completed(LogQualityChoice choice, const JobInput& input) {
  choice.model = input.settings.model;
  choice.adapter = input.settings.adapter;
  return choice;
}

bool LogQualityJob::isSound(const LogQuality& quality) {
  if (quality.groups.size() > quality.choice.groups.size()) return false;
  for (std::size_t g = 0; g < quality.groups.size(); ++g) {
    const doctor::QualityGroup& group = quality.choice.groups[g];
    if (quality.groups[g].questions.size() > group.questions.size()) return false;
    for (const experiment::ProbedQuestion& question : quality.groups[g].questions) {
      const bool isSound = question.samples.size() <= group.policies.size() &&
                           std::ranges::all_of(question.samples, [](const experiment::ProbeSample& sample) {
                             return std::isfinite(sample.divergence) && sample.agreeing <= sample.tokens;
                           });
      if (!isSound) return false;
    }
  }
  return true;
}

trace::EventWords LogQualityJob::activity(const LogQuality& quality) {
  if (quality.groups.empty()) return {forTranslation("Events", "Quality of a log: preparing"), {}};
  return {forTranslation("Events", "Quality of a log: %1 %"),
          {static_cast<std::uint32_t>(100 * quality.progress())}};
}

void LogQualityJob::measure(LogQuality& quality, const LogQualityChoice& /*choice*/, Measurement& at) {
  const JobInput& input = at.input();
  experiment::ExperimentModel model =
      workbench::experimentModelOf(at.model(), at.place().configFor(input.settings));
  model.seam = [&at] { at.pass(); };
  at.clock().begin();
  experiment::SpeedSample pace;
  const std::shared_ptr<void> noted(nullptr, [&](void*) {
    if (input.paces) input.paces->note(input.settings, pace);
  });
  for (std::size_t i = 0; i < quality.choice.groups.size(); ++i) {
    const doctor::QualityGroup& group = quality.choice.groups[i];
    experiment::ProbedModel& probed = quality.groups.emplace_back();
    const std::shared_ptr<void> cleared(nullptr, [&](void*) { dropAnswers(probed); });
    experiment::probeModel(
        probed, model, questionsOf(group, i, input), policiesOf(group), pace,
        [&] {
          dropAnswers(probed);
          at.report();
        },
        at.stop());
  }
}

LogQualityRequest logQualityRequest(const doctor::LogReport& report,
                                    std::vector<doctor::QualityGroup> sample) {
  LogQualityRequest request{.choice = {.log = doctor::identityOf(report), .groups = sample}, .read = {}};
  for (doctor::QualityGroup& group : request.choice.groups) {
    for (doctor::QualityQuestion& question : group.questions) {
      question.query.clear();
      question.original.clear();
    }
  }
  const auto kept = std::make_shared<const std::vector<doctor::QualityGroup>>(std::move(sample));
  request.read = [kept](const std::string& name) {
    for (std::size_t g = 0; g < kept->size(); ++g) {
      const auto& questions = (*kept)[g].questions;
      for (std::size_t i = 0; i < questions.size(); ++i) {
        if (name == nameOf(g, i, false)) return questions[i].query;
        if (name == nameOf(g, i, true)) return questions[i].original;
      }
    }
    throw Failure(errorAt("the sample", "no request " + name, "a request of the sample"));
  };
  return request;
}

}  // namespace spanscope::jobs
