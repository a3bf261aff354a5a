// SPDX-License-Identifier: GPL-3.0-or-later
// The options that every command which plans a query has.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/cli11_forward.h"
#include "app/cli/command.h"
#include "app/cli/document_input.h"
#include "app/cli/query_inputs.h"
#include "app/cli/setting_options.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/pipeline.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::cli {

inline constexpr const char* kRetrievalGroup = "Retrieval (augment)";

struct QueryOptionTexts {
  /// Refuses options that contradict each other or do not fit together. Throws as refuseOption().
  void check() const;

  workbench::RunSettings settings = commandSettings();
  std::vector<std::string> values;   ///< "name=value"
  std::vector<std::string> folders;  ///< that queries may read beside their own
  std::shared_ptr<AnswerBook> book = std::make_shared<AnswerBook>();
  std::vector<std::string> rules;  ///< "name=on" or "name=off"
  workbench::RetrievalSettings retrieval;
  const CLI::Option* reducePrompt = nullptr;
  std::vector<const CLI::Option*> retrievalOptions;  ///< those of addRetrievalOptions()
};

/// The options of a command, and what its queries are given.
struct QueryOptions : workbench::PipelineInput {
  std::vector<std::string> folders;
  std::shared_ptr<AnswerBook> book;
  std::shared_ptr<workbench::Retrieval> retriever;  ///< that `retrieval` points to
  std::vector<std::string> givenForRetrieval;       ///< names of the options that only an augment uses
};

/// What a query file may be, for the help of an argument.
extern const char* const kQueryFileHelp;
extern const char* const kQueryFilesHelp;

/// --read-from.
void addReadFromOption(CLI::App& command, QueryOptionTexts& texts);
/// --set, --answer and --read-from.
void addSettingOption(CLI::App& command, QueryOptionTexts& texts);
void addLocalityOptions(CLI::App& command, QueryOptionTexts& texts);
/// --fragments, --rank, --embeddings-url, --embeddings-model, --summaries, --chunk, --overlap and --index.
void addRetrievalOptions(CLI::App& command, QueryOptionTexts& texts);
void addPlanOptions(CLI::App& command, QueryOptionTexts& texts);

QueryOptions queryOptions(const QueryOptionTexts& texts);
/// The same options with how these settings have a query planned and its augments retrieve.
QueryOptions withSettings(QueryOptions options, const QueryOptionTexts& texts,
                          const workbench::RunSettings& settings);
/// Has augments replaced by what they find, chunked (and embedded and summed up, where it is asked for) by
/// the model of a directory (empty: the bundled one). The files that are planned with these options share an
/// index. What takes long tells standard error how far it is.
void retrieveWith(QueryOptions& options, const QueryOptionTexts& texts, const Context& context,
                  const std::filesystem::path& modelDirectory = {},
                  const workbench::ModelOptions& model = {});

/// Warns of what was given and nothing used: values for parameters that none of the queries read so far has,
/// answers that none asked for, folders that none read from, and options of retrieval where none has an
/// augment. Nothing is said of what queries could not come to because they are wrong.
void warnOfUnused(const QueryOptions& options, const Streams& streams);

/// The part of it that a command without other such options needs.
void warnOfUnusedFolders(const std::vector<std::string>& folders, const AnswerBook& book, std::ostream& err);

/// A query that was planned, with what is said of its parameters.
struct PlannedFile {
  workbench::PipelineResult made;
  std::vector<query::ParameterInfo> parameters;
  std::map<std::string, std::string> values;  ///< those that were given

  const query::Node& query() const { return *made.queryAfter(workbench::Stage::Plan); }
  const plan::Plan& plan() const { return *made.plan; }
};

/// Reads and plans a file; what is wrong with it goes to standard error. Nothing if there was an error.
std::optional<PlannedFile> planFile(const std::string& file, const QueryOptions& options,
                                    const Streams& streams);
/// The same of a file that was read.
std::optional<PlannedFile> planText(const std::string& file, const std::string& text,
                                    const QueryOptions& options, const Streams& streams);

/// A query that was read, and where its nodes stood.
struct QueryFile {
  query::Node query;
  std::string text;
  query::SourceMap sources;
  std::optional<DocumentPlaces> places{};  ///< where it is that of a document; then `sources` is empty
};

/// Finds the place in the text of what is wrong with the query.
void locate(query::Diagnostic& diagnostic, const QueryFile& file);

/// Reads a file that is to be sent to a server; what is wrong with it goes to standard error. Nothing if
/// there was an error.
std::optional<QueryFile> readFileForServer(const std::string& file, const QueryOptions& options,
                                           const Streams& streams);

}  // namespace spanscope::cli
