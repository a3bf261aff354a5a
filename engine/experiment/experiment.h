// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments that draw themselves: what is swept, with its usual values, what is measured and how that is
// drawn, said once. `spanq bench NAME` and the page of the window enumerate the same list and run the same
// code. A new experiment is a file in studies/ and a line in experiments.cpp.
#pragma once

#include "engine/compute/backend.h"
#include "engine/experiment/statistics.h"
#include "engine/model/decoder.h"
#include "engine/query/query.h"
#include "engine/run/session.h"
#include "engine/run/session_config.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

enum class FieldKind : std::uint8_t {
  Numbers,   ///< what is swept along the axis: "1,2,4"
  Number,    ///< one, the same at every place
  Policies,  ///< a line each: "spans,prefix", with parameters where they have any; empty: all there are
  Words,     ///< a line each of `words`, with commas between them
  Folder,    ///< one, or a file in it; empty: where it usually is
  Models,    ///< directories with commas between them, beside the model that was chosen; may be empty
};

/// One thing that a person may choose.
struct ExperimentField {
  const char* key;       ///< of the option and of files: "documents"
  const char* name;      ///< "Documents"
  const char* help;      ///< a sentence
  const char* standard;  ///< the usual value, as text
  FieldKind kind = FieldKind::Numbers;
  std::int32_t least = 1;  ///< of each number
  std::int32_t most = 1;
  const char* words = "";  ///< those there are, with commas between them
};

/// What is said of the samples of a point.
enum class FigureKind : std::uint8_t {
  Median,  ///< with quartiles, of fewer than five samples with least and most
  Share,   ///< of samples that are 0 or 100: their mean, with its 95 % interval
};

/// A figure of every point.
struct Measure {
  const char* key;   ///< "ttft_ms"
  const char* name;  ///< "time to first token"
  const char* unit;  ///< "ms"; empty: a plain number
  int digits = 2;    ///< after the point, in tables
  bool isLogarithmic = false;
  FigureKind figure = FigureKind::Median;
};

/// What a person asks for.
struct ExperimentWish {
  std::string experiment;
  std::map<std::string, std::string> values;  ///< by field; those that are missing are as usual
  std::int32_t repeats = 0;                   ///< 0: as many as usual
  std::uint64_t seed = 0;
  bool operator==(const ExperimentWish&) const = default;
};

/// One place of one line.
struct ExperimentPoint {
  std::string series;
  double x = 0;
  double y = 0;                              ///< where the experiment has a second axis
  std::vector<std::vector<double>> samples;  ///< by measure, one a repeat; fewer where one has no figure
  bool operator==(const ExperimentPoint&) const = default;
};

/// What was found so far.
struct ExperimentResult {
  ExperimentWish wish;  ///< with every value
  std::string model;
  std::string machine;                  ///< device and threads
  std::vector<ExperimentPoint> points;  ///< line by line as they came
  std::vector<std::string> remarks;     ///< sentences: what was left out, and why
  std::size_t done = 0;                 ///< of `total` runs
  std::size_t total = 0;
  std::string doing;  ///< "8 documents, policy spans"
  bool operator==(const ExperimentResult&) const = default;

  /// The lines, in the order in which they began.
  std::vector<std::string> series() const;
  double progress() const { return total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total); }
};

/// A loaded model, and how a session of its own is opened on it: experiments share no cache with anybody.
struct ExperimentModel {
  std::string name;
  std::string machine;
  model::Decoder& decoder;
  compute::Backend& backend;
  const text::Tokenizer* tokenizer = nullptr;
  const text::ChatTemplate* chat = nullptr;
  run::SessionConfig session;       ///< as it was asked for; an experiment may take more blocks
  std::filesystem::path scratch{};  ///< folder for what is stored for a while; empty: none
  std::vector<std::filesystem::path> published{};  ///< where data that others published may lie
  std::function<std::unique_ptr<run::Session>(const run::SessionConfig& config, trace::Sink& sink)> open;
};

/// Told on the thread that measures, after everything that is new.
using ExperimentTell = std::function<void(const ExperimentResult& now)>;

struct Experiment {
  const char* name;   ///< of the command: "rag"
  const char* title;  ///< "Time to first token of RAG"
  const char* brief;  ///< what question it answers, a sentence
  const char* xName;  ///< of the axis: "documents"
  bool isXLogarithmic = false;
  const char* yName = "";  ///< of a second axis: places are then cells of a map; empty: there is none
  std::span<const ExperimentField> fields;
  std::span<const Measure> measures;  ///< the first one is drawn unless another is chosen
  std::int32_t repeats = 1;           ///< usual
  /// Measures into `result`, whose wish is whole. Throws Failure if it was stopped or cannot go on; what was
  /// measured by then stands.
  void (*measure)(ExperimentResult& result, const ExperimentModel& model, const ExperimentTell& tell,
                  const std::stop_token& stop);
};

/// The fields of an experiment, and those that every one has.
std::vector<ExperimentField> fieldsOf(const Experiment& experiment);

/// All of them, in the order in which they are offered.
std::span<const Experiment* const> experiments();
/// nullptr: there is none of that name.
const Experiment* findExperiment(std::string_view name);

/// The wish with the usual values where it has none. Throws Failure that names the field where a value is
/// none, or where there is no such experiment or field.
ExperimentWish completed(ExperimentWish wish);

/// Carries a complete or incomplete wish out. Throws as completed() and Experiment::measure.
void runExperiment(ExperimentResult& result, const ExperimentModel& model, const ExperimentTell& tell,
                   const std::stop_token& stop);

/// The directories of further models that a wish names.
std::vector<std::string> furtherModels(const ExperimentWish& wish);

/// Carries a wish out on one model after the other, `count` of them, and has each line begin with the name of
/// its model. `load`: the one of an index; it is done with when the next one is asked for. Throws as
/// runExperiment(); what was measured by then stands.
void runOnModels(ExperimentResult& result, std::size_t count,
                 const std::function<ExperimentModel(std::size_t index)>& load, const ExperimentTell& tell,
                 const std::stop_token& stop);

/// Values of the fields of a complete wish.
std::vector<std::int32_t> numbersOf(const ExperimentWish& wish, const char* field);
std::int32_t numberOf(const ExperimentWish& wish, const char* field);
std::vector<std::string> policiesOf(const ExperimentWish& wish, const char* field);
std::vector<std::string> wordsOf(const ExperimentWish& wish, const char* field);
const std::string& textOf(const ExperimentWish& wish, const char* field);

}  // namespace spanscope::experiment
