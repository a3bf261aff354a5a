// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments that draw themselves. Each is described once: what is swept, with its usual values, what is
// measured, and how this is drawn. `spanq bench NAME` and the window's page enumerate the same list and run
// the same code. A new experiment is a file in studies/ and a line in experiments.cpp.
#pragma once

#include "engine/compute/backend.h"
#include "engine/experiment/own_documents.h"
#include "engine/experiment/seam.h"
#include "engine/experiment/statistics.h"
#include "engine/experiment/token_amount.h"
#include "engine/model/decoder.h"
#include "engine/query/query.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

enum class FieldKind : std::uint8_t {
  Numbers,   ///< the values along the axis: "1,2,4"
  Number,    ///< one number, the same at every place
  Policies,  ///< one line each: "spans,prefix", with parameters where they have any; empty: all policies
  Words,     ///< one line each, from `words`, separated by commas
  Folder,    ///< a folder, or a file in it; empty: the usual place
  Models,    ///< directories of further models, besides the chosen one, separated by commas; may be empty
};

/// One choice that a person can make.
struct ExperimentField {
  const char* key;       ///< in options and files: "documents"
  const char* name;      ///< "Documents"
  const char* help;      ///< one sentence
  const char* standard;  ///< the usual value, as text
  FieldKind kind = FieldKind::Numbers;
  std::int32_t least = 1;  ///< smallest value of each number
  std::int32_t most = 1;
  const char* words = "";  ///< the possible words, separated by commas
};

/// How the samples of a point are summarized.
enum class FigureKind : std::uint8_t {
  Median,  ///< with quartiles; for fewer than five samples, with least and most
  Share,   ///< for samples that are 0 or 100: their mean, with its 95 % interval
};

/// A figure that every point has.
struct Measure {
  const char* key;   ///< "ttft_ms"
  const char* name;  ///< "time to first token"
  const char* unit;  ///< "ms"; empty: a plain number
  int digits = 2;    ///< digits after the point, in tables
  bool isLogarithmic = false;
  FigureKind figure = FigureKind::Median;
};

/// Where the documents and the question of an experiment come from.
enum class DocumentSource : std::uint8_t {
  Made,  ///< the program makes them up
  Own,   ///< they are those of a person's query
};

/// What a person asks to be measured.
struct ExperimentWish {
  std::string experiment;
  std::map<std::string, std::string> values;  ///< by field; missing fields have their usual values
  std::int32_t repeats = 0;                   ///< 0: the usual number
  std::uint64_t seed = 0;
  DocumentSource source = DocumentSource::Made;
  std::shared_ptr<const OwnDocuments> own{};  ///< of DocumentSource::Own; null: not taken from the query yet
  std::string expected{};  ///< the right answer to a person's question; empty: none was given
  bool operator==(const ExperimentWish&) const = default;
};

/// One place on one line.
struct ExperimentPoint {
  std::string series;
  double x = 0;
  double y = 0;                              ///< if the experiment has a second axis
  std::vector<std::vector<double>> samples;  ///< by measure, one per repeat; fewer if a repeat has no figure
  bool operator==(const ExperimentPoint&) const = default;
};

/// The results so far.
struct ExperimentResult {
  ExperimentWish wish;  ///< with every value filled in
  std::string model;
  std::string machine;                  ///< device and threads
  std::vector<ExperimentPoint> points;  ///< by line, in the order in which they were measured
  std::vector<std::string> remarks;     ///< sentences: what was left out, and why
  std::size_t done = 0;                 ///< number of finished runs, of `total`
  std::size_t total = 0;
  std::string doing;                    ///< "8 documents, policy spans"
  PaceSample pace{};                    ///< of its runs
  std::optional<double> secondsLeft{};  ///< of the whole; nothing: not known yet
  bool operator==(const ExperimentResult&) const = default;

  /// Names of the lines, in the order in which they began.
  std::vector<std::string> series() const;
  double progress() const { return total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total); }
};

class ExperimentTally;

/// A loaded model, and how to open a session on it: each experiment has its own cache.
struct ExperimentModel {
  std::string name;
  std::string machine;
  model::Decoder& decoder;
  compute::Backend& backend;
  const text::Tokenizer* tokenizer = nullptr;
  const text::ChatTemplate* chat = nullptr;
  run::SessionConfig session;                      ///< as requested; an experiment may use more blocks
  std::filesystem::path scratch{};                 ///< folder for temporary files; empty: none
  std::vector<std::filesystem::path> published{};  ///< places of data that others published
  std::function<std::unique_ptr<run::Session>(const run::SessionConfig& config, trace::Sink& sink)> open;
  Seam seam{};                       ///< called between two measured pieces
  ExperimentTally* tally = nullptr;  ///< not null: nothing is computed, and what would be is counted there
};

/// Called on the measuring thread after every new result.
using ExperimentTell = std::function<void(const ExperimentResult& now)>;

/// How an experiment runs on documents and the question of a person's query.
struct OwnUse {
  const char* count = "";  ///< the field that says how many of the documents; empty: it makes up its own
  const char* made = "";   ///< the field that says how documents are made up, which means nothing then
  bool judges = false;     ///< it compares answers with the right one
};

struct Experiment {
  const char* name;   ///< of the command: "rag"
  const char* title;  ///< "Time to first token of RAG"
  const char* brief;  ///< the question that it answers, one sentence
  const char* xName;  ///< of the axis: "documents"
  bool isXLogarithmic = false;
  const char* yName = "";  ///< of a second axis: places are then cells of a map; empty: there is no second
                           ///< axis
  std::span<const ExperimentField> fields;
  std::span<const Measure> measures;  ///< the first one is drawn unless another is chosen
  std::int32_t repeats = 1;           ///< usual number
  OwnUse own{};
  /// Measures into `result`, whose wish is complete. Throws Failure if it was stopped or cannot continue; the
  /// results so far stay.
  void (*measure)(ExperimentResult& result, const ExperimentModel& model, const ExperimentTell& tell,
                  const std::stop_token& stop);
};

/// The fields of an experiment, including those that every experiment has.
std::vector<ExperimentField> fieldsOf(const Experiment& experiment);

/// All experiments, in the order in which they are offered.
std::span<const Experiment* const> experiments();
/// The experiment of this name; nullptr if there is none.
const Experiment* findExperiment(std::string_view name);

/// Whether it can run on documents and the question of a person's query.
constexpr bool takesOwnDocuments(const Experiment& experiment) {
  return *experiment.own.count != '\0';
}

/// The wish, completed with the usual values; of a person's documents, with numbers of them that there are.
/// `ownDocuments`: how many there are, where ExperimentWish::own is null. Throws Failure that names the field
/// if a value is invalid, or if there is no such experiment or field.
ExperimentWish completed(ExperimentWish wish, std::optional<std::size_t> ownDocuments = {});

/// The usual value of a field for so many documents of a person: "1,2,4,8" for eight.
std::string usualValue(const Experiment& experiment, const ExperimentField& field, std::size_t ownDocuments);

/// Carries out a wish, which may be incomplete. Throws as completed() and Experiment::measure.
void runExperiment(ExperimentResult& result, const ExperimentModel& model, const ExperimentTell& tell,
                   const std::stop_token& stop);

/// The directories of further models that a wish names.
std::vector<std::string> furtherModels(const ExperimentWish& wish);

/// Carries out a wish on `count` models, one after the other. Each line begins with the name of its model.
/// `load` loads the model of an index; the model before is no longer used then. Throws as runExperiment();
/// the results so far stay.
void runOnModels(ExperimentResult& result, std::size_t count,
                 const std::function<ExperimentModel(std::size_t index)>& load, const ExperimentTell& tell,
                 const std::stop_token& stop);

/// Values of a field of a complete wish.
std::vector<std::int32_t> numbersOf(const ExperimentWish& wish, const char* field);
std::int32_t numberOf(const ExperimentWish& wish, const char* field);
std::vector<std::string> policiesOf(const ExperimentWish& wish, const char* field);
std::vector<std::string> wordsOf(const ExperimentWish& wish, const char* field);
const std::string& textOf(const ExperimentWish& wish, const char* field);

}  // namespace spanscope::experiment
