// SPDX-License-Identifier: GPL-3.0-or-later
// Defines experiments that draw their results. An experiment describes its inputs with their usual values,
// its measures, and its chart. `spanq bench NAME` and the window's page have the same list and run the same
// code. Open this file to add an experiment: a file in studies/ and a line in experiments.cpp.
#pragma once

#include "engine/compute/backend.h"
#include "engine/experiment/own_documents.h"
#include "engine/experiment/pause_hook.h"
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
  Number,    ///< one number, the same for all points
  Policies,  ///< policies, separated by commas: "spans,prefix". Policies may have parameters. Empty: all
             ///< policies
  Words,     ///< words of `words`, separated by commas
  Folder,    ///< a folder, or a file in it; empty: the usual place
  Models,    ///< directories of further models, besides the chosen one, separated by commas; may be empty
};

/// A value that the user can choose.
struct ExperimentField {
  const char* key;       ///< in options and files: "documents"
  const char* name;      ///< "Documents"
  const char* help;      ///< one sentence
  const char* standard;  ///< the usual value, as text
  FieldKind kind = FieldKind::Numbers;
  std::int32_t least = 1;  ///< min value of each number
  std::int32_t most = 1;
  const char* words = "";  ///< the possible words, separated by commas
};

/// How the samples of a point are summarized.
enum class MetricKind : std::uint8_t {
  Median,  ///< with quartiles; with min and max if there are fewer than five samples
  Share,   ///< for samples that are 0 or 100: their mean, with its 95 % interval
};

/// A value that every point has.
struct Measure {
  const char* key;   ///< "ttft_ms"
  const char* name;  ///< "time to first token"
  const char* unit;  ///< "ms"; empty: a plain number
  int digits = 2;    ///< digits after the point, in tables
  bool isLogarithmic = false;
  MetricKind number = MetricKind::Median;
};

/// The source of the documents and the question of an experiment.
enum class DocumentSource : std::uint8_t {
  Made,  ///< the program makes up the documents and the question
  Own,   ///< the documents of the user's query
};

/// A request to measure.
struct ExperimentRequest {
  std::string experiment;
  std::map<std::string, std::string> values;  ///< by field; missing fields have their usual values
  std::int32_t repeats = 0;                   ///< 0: the usual number
  std::uint64_t seed = 0;
  DocumentSource source = DocumentSource::Made;
  std::shared_ptr<const OwnDocuments> own{};  ///< for DocumentSource::Own; null: not taken from the query yet
  std::string expected{};                     ///< the right answer to the user's question; empty: not given
  bool operator==(const ExperimentRequest&) const = default;
};

/// One point of a line.
struct ExperimentPoint {
  std::string series;
  double x = 0;
  double y = 0;                              ///< if the experiment has a second axis
  std::vector<std::vector<double>> samples;  ///< by measure, one per repeat; fewer if a repeat has no value
  bool operator==(const ExperimentPoint&) const = default;
};

/// The results so far.
struct ExperimentResult {
  ExperimentRequest request;  ///< the request with all values filled in
  std::string model;
  std::string machine;                  ///< device and threads
  std::vector<ExperimentPoint> points;  ///< by line, in the order of measurement
  std::vector<std::string> remarks;     ///< sentences about left-out measurements, with the reason
  std::size_t done = 0;                 ///< number of finished runs; `total` is the number of all runs
  std::size_t total = 0;
  std::string doing;   ///< the current work, e.g. "8 documents, policy spans"
  SpeedSample pace{};  ///< the pace of its runs
  bool operator==(const ExperimentResult&) const = default;

  /// Returns the names of the lines, in the order in which they began.
  std::vector<std::string> series() const;
  double progress() const { return total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total); }
};

class ExperimentTally;

/// A loaded model, and a function that opens a session with it. Each experiment has its own cache.
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
  PauseHook seam{};                  ///< called between two measured steps
  ExperimentTally* tally = nullptr;  ///< not null: nothing is computed, and the amount of work is counted
                                     ///< there
};

/// Called on the measuring thread after every new result.
using ExperimentProgress = std::function<void(const ExperimentResult& now)>;

/// How an experiment uses the documents and the question of the user's query.
struct OwnUse {
  const char* count = "";  ///< the field with the number of documents; empty: the experiment makes up its own
                           ///< documents
  const char* made = "";   ///< the field that describes made-up documents; it has no effect with the user's
                           ///< documents
  bool judges = false;     ///< whether the experiment compares answers with the right answer
};

struct Experiment {
  const char* name;   ///< the name in commands: "rag"
  const char* title;  ///< "Time to first token of RAG"
  const char* brief;  ///< the question that the experiment answers, as one sentence
  const char* xName;  ///< the name of the axis: "documents"
  bool isXLogarithmic = false;
  const char* yName = "";  ///< the name of a second axis, so that points are cells of a map; empty: there is
                           ///< no second axis
  std::span<const ExperimentField> fields;
  std::span<const Measure> measures;  ///< the first one is drawn unless another is chosen
  std::int32_t repeats = 1;           ///< usual number
  OwnUse own{};
  /// Measures into `result`, whose request is complete. Throws Failure when stopped, or if the measurement
  /// cannot continue. Earlier results remain.
  void (*measure)(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                  const std::stop_token& stop);
};

/// Returns the fields of an experiment, including those that every experiment has.
std::vector<ExperimentField> fieldsOf(const Experiment& experiment);

/// Returns all experiments, in the order of the list.
std::span<const Experiment* const> experiments();
/// Returns the experiment of this name; null if there is none.
const Experiment* findExperiment(std::string_view name);

/// Whether the experiment can use the documents and the question of the user's query.
constexpr bool takesOwnDocuments(const Experiment& experiment) {
  return *experiment.own.count != '\0';
}

/// Completes a request with the usual values. With the user's documents, numbers of documents have at most
/// the existing number. `ownDocuments` is this number if ExperimentRequest::own is null. Throws Failure that
/// names the field of an invalid value. Throws Failure if there is no such experiment or field.
ExperimentRequest completed(ExperimentRequest request, std::optional<std::size_t> ownDocuments = {});

/// Returns the usual value of a field for this number of the user's documents, e.g. "1,2,4,8" for eight.
std::string usualValue(const Experiment& experiment, const ExperimentField& field, std::size_t ownDocuments);

/// Runs an experiment for a request, which may be incomplete. Throws like completed() and
/// Experiment::measure.
void runExperiment(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                   const std::stop_token& stop);

/// Returns the directories of further models in a request.
std::vector<std::string> furtherModels(const ExperimentRequest& request);

/// Runs an experiment on `count` models, one after the other. Each line begins with the name of its model.
/// `load` loads the model with an index. When `load` is called, the previous model is no longer used. Throws
/// like runExperiment(); earlier results remain.
void runOnModels(ExperimentResult& result, std::size_t count,
                 const std::function<ExperimentModel(std::size_t index)>& load,
                 const ExperimentProgress& report, const std::stop_token& stop);

/// These functions return the values of a field of a complete request.
std::vector<std::int32_t> numbersOf(const ExperimentRequest& request, const char* field);
std::int32_t numberOf(const ExperimentRequest& request, const char* field);
std::vector<std::string> policiesOf(const ExperimentRequest& request, const char* field);
std::vector<std::string> wordsOf(const ExperimentRequest& request, const char* field);
const std::string& textOf(const ExperimentRequest& request, const char* field);

}  // namespace spanscope::experiment
