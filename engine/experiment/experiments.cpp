// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/base/utf8.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/studies/study.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace spanscope::experiment {
namespace {

// The only list of experiments. Register a new experiment here.
constexpr std::array<const Experiment*, 12> kExperiments{
    &kRagStudy,    &kJudgeStudy,    &kRelocationStudy, &kReuseStudy,    &kConversationStudy, &kFidelityStudy,
    &kRepairStudy, &kAccuracyStudy, &kLocalityStudy,   &kCroppingStudy, &kDepthStudy,        &kLoadStudy};

/// The field that every experiment has.
constexpr ExperimentField kModels{
    "models", forTranslation("Experiments", "Further models"),
    forTranslation("Experiments",
                   "Model folders, separated by commas. The chart also has lines for these models"),
    "", FieldKind::Models};

[[noreturn]] void refuseNumbers(const ExperimentField& field, std::string_view text, const char* why = "") {
  const std::string wanted =
      field.kind == FieldKind::Number ? "a number from " : "numbers, separated by commas, from ";
  throw Failure(errorAt(field.key, "“" + std::string(text) + "”",
                        wanted + std::to_string(field.least) + " to " + std::to_string(field.most) + why));
}

/// Returns the numbers of "1, 2,4". Throws Failure if a part is no number in the field's range.
std::vector<std::int32_t> readNumbers(const ExperimentField& field, std::string_view text) {
  std::vector<std::int32_t> numbers;
  for (std::string_view part : splitAt(text, ',')) {
    part = trimmed(part, " ");
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < field.least ||
        number > field.most)
      refuseNumbers(field, text);
    numbers.push_back(number);
  }
  if (field.kind == FieldKind::Number && numbers.size() != 1) refuseNumbers(field, text);
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

/// Returns the words of a list. Throws Failure if a word is unknown to the field.
std::vector<std::string> readWords(const ExperimentField& field, std::string_view text) {
  const std::vector<std::string> known = splitWords(field.words);
  std::vector<std::string> words = splitWords(text);
  for (const std::string& word : words) {
    if (std::ranges::find(known, word) == known.end())
      throw Failure(
          errorAt(field.key, "“" + word + "”", std::string("of ") + field.words + ", separated by commas"));
  }
  return words;
}

/// Throws Failure if the field does not accept the value.
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
    case FieldKind::Models:
      return;  // folders and models are checked when they are opened
  }
}

std::string standardOf(const ExperimentField& field) {
  const bool isEvery = field.kind == FieldKind::Policies && *field.standard == '\0';
  return isEvery ? everyPolicy() : field.standard;
}

/// Limits the count of documents to the number of the user's documents.
ExperimentField withOwn(ExperimentField field, const Experiment& experiment,
                        std::optional<std::size_t> ownDocuments) {
  if (!ownDocuments || std::string_view(field.key) != experiment.own.count) return field;
  field.least = 1;
  field.most = static_cast<std::int32_t>(std::min<std::size_t>(*ownDocuments, INT32_MAX));
  return field;
}

std::optional<std::size_t> ownCount(const ExperimentRequest& request) {
  return request.own ? std::optional(request.own->count()) : std::nullopt;
}

/// Throws Failure if the user requests more documents than exist.
void checkOwn(const ExperimentField& field, std::string_view value) {
  ExperimentField any = field;
  any.most = INT32_MAX;
  for (const std::int32_t number : readNumbers(any, value)) {
    if (number > field.most)
      refuseNumbers(field, value, /*id:documents-under-plus*/ ": more documents than the plus has");
  }
}

const std::string& valueOf(const ExperimentRequest& request, const char* field) {
  const auto found = request.values.find(field);
  if (found == request.values.end()) throw Failure(errorAt(field, "no value", "a value"));
  return found->second;
}

ExperimentField fieldOf(const ExperimentRequest& request, const char* key) {
  const Experiment* experiment = findExperiment(request.experiment);
  if (experiment != nullptr) {
    for (const ExperimentField& field : experiment->fields) {
      if (std::string_view(field.key) == key) return withOwn(field, *experiment, ownCount(request));
    }
  }
  throw Failure(
      errorAt("experiment", request.experiment, std::string("an experiment with the field ") + key));
}

}  // namespace

std::vector<std::string> ExperimentResult::series() const {
  std::vector<std::string> names;
  for (const ExperimentPoint& point : points) {
    if (std::ranges::find(names, point.series) == names.end()) names.push_back(point.series);
  }
  return names;
}

std::span<const Experiment* const> experiments() {
  return kExperiments;
}

std::vector<ExperimentField> fieldsOf(const Experiment& experiment) {
  std::vector<ExperimentField> fields(experiment.fields.begin(), experiment.fields.end());
  fields.push_back(kModels);
  return fields;
}

const Experiment* findExperiment(std::string_view name) {
  const auto found = std::ranges::find_if(
      kExperiments, [name](const Experiment* experiment) { return name == experiment->name; });
  return found == kExperiments.end() ? nullptr : *found;
}

ExperimentRequest completed(ExperimentRequest request, std::optional<std::size_t> ownDocuments) {
  if (request.own) ownDocuments = ownCount(request);
  if (request.source == DocumentSource::Made) ownDocuments.reset();
  const Experiment* experiment = findExperiment(request.experiment);
  if (experiment == nullptr) {
    std::string names;
    for (const Experiment* one : kExperiments) names += (names.empty() ? "" : ", ") + std::string(one->name);
    throw Failure(errorAt("experiment", request.experiment, "one of " + names));
  }
  const std::vector<ExperimentField> fields = fieldsOf(*experiment);
  for (const auto& [key, value] : request.values) {
    const auto isIt = [&key = key](const ExperimentField& field) { return key == field.key; };
    if (std::ranges::none_of(fields, isIt))
      throw Failure(errorAt("experiment " + request.experiment, "a value for " + key,
                            "no value: the experiment has no such field"));
  }
  const bool isOwn = request.source == DocumentSource::Own;
  if (isOwn && !takesOwnDocuments(*experiment)) {
    throw Failure(errorAt("experiment " + request.experiment, "documents of a query",
                          "no documents: the experiment generates its documents"));
  }
  if (!request.expected.empty() && !(isOwn && experiment->own.judges)) {
    throw Failure(errorAt("experiment " + request.experiment, "an expected answer",
                          isOwn ? "no expected answer: the experiment compares no answers"
                                : "no expected answer: the experiment generates its documents"));
  }
  for (const ExperimentField& usual : fields) {
    const ExperimentField field = withOwn(usual, *experiment, ownDocuments);
    const bool isCount = ownDocuments && std::string_view(field.key) == experiment->own.count;
    if (isOwn && *field.key != '\0' && std::string_view(field.key) == experiment->own.made) {
      request.values.erase(field.key);
      continue;
    }
    std::string& value = request.values[field.key];
    if (value.empty()) value = isCount ? usualValue(*experiment, field, *ownDocuments) : standardOf(field);
    if (isCount) checkOwn(field, value);
    check(field, value);
  }
  if (request.repeats <= 0) request.repeats = experiment->repeats;
  return request;
}

std::string usualValue(const Experiment& experiment, const ExperimentField& field, std::size_t ownDocuments) {
  std::string usual = standardOf(field);
  if (std::string_view(field.key) != experiment.own.count) return usual;
  ExperimentField any = field;
  any.least = 0;
  any.most = INT32_MAX;
  const auto all = static_cast<std::int32_t>(std::min<std::size_t>(ownDocuments, INT32_MAX));
  std::vector<std::int32_t> numbers = readNumbers(any, usual);
  const auto isTooMany = [all](std::int32_t number) { return number > all; };
  if (std::ranges::none_of(numbers, isTooMany)) return usual;
  // The number of all documents replaces the numbers that are too large.
  std::erase_if(numbers, isTooMany);
  if (numbers.empty() || numbers.back() != all) numbers.push_back(all);
  std::string text;
  for (const std::int32_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

void runExperiment(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                   const std::stop_token& stop) {
  result.request = completed(std::move(result.request));
  if (result.request.source == DocumentSource::Own && result.request.own == nullptr)
    throw Failure(errorAt("experiment " + result.request.experiment, "no query", "a query with documents"));
  result.model = model.name;
  result.machine = model.machine;
  findExperiment(result.request.experiment)->measure(result, model, report, stop);
  result.doing.clear();
  report(result);
}

std::vector<std::string> furtherModels(const ExperimentRequest& request) {
  std::vector<std::string> models;
  const auto found = request.values.find(kModels.key);
  if (found == request.values.end()) return models;
  for (const std::string_view part : splitAt(found->second, ',')) {
    if (const std::string_view model = trimmed(part, " "); !model.empty()) models.emplace_back(model);
  }
  return models;
}

void runOnModels(ExperimentResult& result, std::size_t count,
                 const std::function<ExperimentModel(std::size_t)>& load, const ExperimentProgress& report,
                 const std::stop_token& stop) {
  constexpr std::size_t kSteps = 10'000;  // of the progress of one model
  if (count == 1) {
    runExperiment(result, load(0), report, stop);
    return;
  }
  result.request = completed(std::move(result.request));
  result.total = count * kSteps;
  for (std::size_t i = 0; i < count; ++i) {
    const ExperimentModel model = load(i);
    result.model += (i == 0 ? "" : ", ") + model.name;
    result.machine = model.machine;
    const std::size_t before = result.points.size();
    const std::vector<std::string> said = result.remarks;
    ExperimentResult part;
    part.request = result.request;
    const auto join = [&](const ExperimentResult& now) {
      result.points.resize(before);
      for (ExperimentPoint point : now.points) {
        point.series = model.name + ": " + point.series;
        result.points.push_back(std::move(point));
      }
      result.remarks = said;
      for (const std::string& remark : now.remarks) {
        if (std::ranges::find(said, remark) == said.end()) result.remarks.push_back(remark);
      }
      result.done = i * kSteps + static_cast<std::size_t>(now.progress() * static_cast<double>(kSteps));
      result.pace = now.pace;
      result.doing = now.doing.empty() ? std::string() : model.name + ": " + now.doing;
      report(result);
    };
    runExperiment(part, model, join, stop);
  }
}

std::vector<std::int32_t> numbersOf(const ExperimentRequest& request, const char* field) {
  return readNumbers(fieldOf(request, field), valueOf(request, field));
}

std::int32_t numberOf(const ExperimentRequest& request, const char* field) {
  return numbersOf(request, field).front();
}

std::vector<std::string> policiesOf(const ExperimentRequest& request, const char* field) {
  return splitPolicies(valueOf(request, field));
}

std::vector<std::string> wordsOf(const ExperimentRequest& request, const char* field) {
  return readWords(fieldOf(request, field), valueOf(request, field));
}

const std::string& textOf(const ExperimentRequest& request, const char* field) {
  return valueOf(request, field);
}

}  // namespace spanscope::experiment
