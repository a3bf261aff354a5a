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
constexpr std::array<const Experiment*, 10> kExperiments{
    &kRagStudy,    &kJudgeStudy,    &kRelocationStudy, &kConversationStudy, &kFidelityStudy,
    &kRepairStudy, &kAccuracyStudy, &kLocalityStudy,   &kDepthStudy,        &kLoadStudy};

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

std::vector<std::string> splitWords(std::string_view list) {
  std::vector<std::string> words(1);
  for (const char letter : list) {
    if (letter == ',')
      words.emplace_back();
    else if (letter != ' ')
      words.back() += letter;
  }
  return words;
}

/// Throws Failure where one of them is none of the field's.
std::vector<std::string> readWords(const ExperimentField& field, std::string_view text) {
  const std::vector<std::string> known = splitWords(field.words);
  std::vector<std::string> words = splitWords(text);
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      throw Failure(
          errorAt(field.key, "“" + word + "”", std::string("of ") + field.words + ", with commas between"));
  }
  return words;
}

/// Throws Failure where a value is none of the field's.
void check(const ExperimentField& field, std::string_view value) {
  switch (field.kind) {
    case FieldKind::Numbers:
    case FieldKind::Number:
      readNumbers(field, value);
      return;
    case FieldKind::Policies:
      splitPolicies(value);
      return;
    case FieldKind::Words:
      readWords(field, value);
      return;
    case FieldKind::Folder:
      return;  // whether it is there is known when it is read
  }
}

std::string standardOf(const ExperimentField& field) {
  const bool isEvery = field.kind == FieldKind::Policies && *field.standard == '\0';
  return isEvery ? everyPolicy() : field.standard;
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
    if (value.empty()) value = standardOf(field);
    check(field, value);
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

std::vector<std::string> wordsOf(const ExperimentWish& wish, const char* field) {
  return readWords(fieldOf(wish, field), valueOf(wish, field));
}

const std::string& textOf(const ExperimentWish& wish, const char* field) {
  return valueOf(wish, field);
}

}  // namespace spanscope::experiment
