// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/policy_text.h"
#include "engine/experiment/studies/studies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace spanscope::experiment {
namespace {

// The one place where an experiment is registered.
constexpr std::array<const Experiment*, 8> kExperiments{&kRagStudy,      &kJudgeStudy,   &kRelocationStudy,
                                                        &kFidelityStudy, &kRepairStudy,  &kAccuracyStudy,
                                                        &kLocalityStudy, &kCroppingStudy};

[[noreturn]] void refuseNumbers(const ExperimentField& field, std::string_view text) {
  const std::string wanted =
      field.kind == FieldKind::Number ? "a number from " : "numbers with commas between them, from ";
  throw Failure(errorAt(field.key, "“" + std::string(text) + "”",
                        wanted + std::to_string(field.least) + " to " + std::to_string(field.most)));
}

/// The numbers of "1, 2,4"; throws Failure where it is none such.
std::vector<std::int32_t> readNumbers(const ExperimentField& field, std::string_view text) {
  const std::string_view whole = text;
  std::vector<std::int32_t> numbers;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < field.least ||
        number > field.most)
      refuseNumbers(field, whole);
    numbers.push_back(number);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (field.kind == FieldKind::Number && numbers.size() != 1) refuseNumbers(field, whole);
  return numbers;
}

const std::string& valueOf(const ExperimentWish& wish, const char* field) {
  const auto found = wish.values.find(field);
  if (found == wish.values.end()) throw Failure(errorAt(field, "no value", "one"));
  return found->second;
}

const ExperimentField& fieldOf(const ExperimentWish& wish, const char* key) {
  const Experiment* experiment = findExperiment(wish.experiment);
  if (experiment != nullptr) {
    for (const ExperimentField& field : experiment->fields) {
      if (std::string_view(field.key) == key) return field;
    }
  }
  throw Failure(errorAt("experiment", wish.experiment, std::string("one that has the field ") + key));
}

}  // namespace

std::vector<std::string> ExperimentResult::series() const {
  std::vector<std::string> names;
  for (const ExperimentPoint& point : points) {
    if (std::find(names.begin(), names.end(), point.series) == names.end()) names.push_back(point.series);
  }
  return names;
}

std::span<const Experiment* const> experiments() {
  return kExperiments;
}

const Experiment* findExperiment(std::string_view name) {
  const auto found = std::find_if(kExperiments.begin(), kExperiments.end(),
                                  [name](const Experiment* experiment) { return name == experiment->name; });
  return found == kExperiments.end() ? nullptr : *found;
}

ExperimentWish completed(ExperimentWish wish) {
  const Experiment* experiment = findExperiment(wish.experiment);
  if (experiment == nullptr) {
    std::string names;
    for (const Experiment* one : kExperiments) names += (names.empty() ? "" : ", ") + std::string(one->name);
    throw Failure(errorAt("experiment", wish.experiment, "one of " + names));
  }
  for (const auto& [key, value] : wish.values) {
    const auto isIt = [&key = key](const ExperimentField& field) { return key == field.key; };
    if (std::none_of(experiment->fields.begin(), experiment->fields.end(), isIt))
      throw Failure(errorAt("experiment " + wish.experiment, "a value for " + key, "none such"));
  }
  for (const ExperimentField& field : experiment->fields) {
    std::string& value = wish.values[field.key];
    if (value.empty()) value = field.kind == FieldKind::Policies ? everyPolicy() : field.standard;
    if (field.kind == FieldKind::Policies)
      splitPolicies(value);
    else
      readNumbers(field, value);
  }
  if (wish.repeats <= 0) wish.repeats = experiment->repeats;
  return wish;
}

void runExperiment(ExperimentResult& result, const ExperimentModel& model, const ExperimentTell& tell,
                   const std::stop_token& stop) {
  result.wish = completed(std::move(result.wish));
  result.model = model.name;
  result.machine = model.machine;
  findExperiment(result.wish.experiment)->measure(result, model, tell, stop);
  result.doing.clear();
  tell(result);
}

std::vector<std::int32_t> numbersOf(const ExperimentWish& wish, const char* field) {
  return readNumbers(fieldOf(wish, field), valueOf(wish, field));
}

std::int32_t numberOf(const ExperimentWish& wish, const char* field) {
  return numbersOf(wish, field).front();
}

std::vector<std::string> policiesOf(const ExperimentWish& wish, const char* field) {
  return splitPolicies(valueOf(wish, field));
}

}  // namespace spanscope::experiment
