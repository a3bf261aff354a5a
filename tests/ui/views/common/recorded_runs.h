// SPDX-License-Identifier: GPL-3.0-or-later
// Runs example queries on the bundled model, and makes the inputs that views get.
#pragma once

#include "engine/policy/policies.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
#include "engine/trace/binary_codec.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/model_bundle.h"
#include "ui/session/document_predictor.h"
#include "ui/session/view_input.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::test {

/// A document, and the nodes of it that the runs mean.
struct Recorded {
  std::shared_ptr<const document::Document> document;
  std::map<RunId, document::NodePaths> paths;
  std::vector<trace::Event> events;

  /// An input with the first `count` events of the whole trace.
  ui::ViewInput input(std::size_t count, ui::Scheme scheme = ui::Scheme::Light) const;
  ui::ViewInput input(ui::Scheme scheme = ui::Scheme::Light) const { return input(events.size(), scheme); }
};

class RunRecorder {
 public:
  explicit RunRecorder(const run::SessionConfig& session = {});

  /// Makes the next run of the session. `observeRows` records the attention of every token.
  void run(const document::Document& document, const policy::Policy& policy = policy::standardPolicy(),
           bool observeRows = false, layout::Layout layout = layout::Layout::Exact);
  /// What a run of the document would find now.
  std::shared_ptr<const ui::DocumentPrediction> predict(const document::Document& document,
                                                        bool comparesLayouts = false);
  /// Empties the cache, so that nothing can be reused.
  void clearCache() { m_session->clearCache(); }
  /// Forgets the paths, as if the runs so far belonged to another document.
  void forgetPaths() { m_paths.clear(); }
  Recorded recorded() const;

 private:
  workbench::ModelBundle m_bundle;
  trace::Recorder m_recorder;
  std::unique_ptr<run::Session> m_session;
  std::shared_ptr<const document::Document> m_document;
  std::map<RunId, document::NodePaths> m_paths;
  RunId m_runs = 0;
  ui::DocumentPredictor m_predictor;
};

/// The input with an event more at the end of its trace.
ui::ViewInput withEvent(ui::ViewInput input, trace::Payload payload);
/// The input once a job of a kind of engine/jobs has ended: with this result, or with a problem.
template <class Kind>
ui::ViewInput withResult(ui::ViewInput input, const typename Kind::Arguments& arguments,
                         const typename Kind::Result& result) {
  return withEvent(std::move(input), trace::JobEnded{.kind = Kind::kId,
                                                     .arguments = trace::pack(arguments),
                                                     .outcome = trace::JobOutcome::Finished,
                                                     .problem = {},
                                                     .result = trace::pack(result)});
}
template <class Kind>
ui::ViewInput withProblem(ui::ViewInput input, const typename Kind::Arguments& arguments,
                          const std::string& problem) {
  return withEvent(std::move(input), trace::JobEnded{.kind = Kind::kId,
                                                     .arguments = trace::pack(arguments),
                                                     .outcome = trace::JobOutcome::Failed,
                                                     .problem = problem,
                                                     .result = {}});
}

/// Shows what a job has measured so far.
template <class Kind>
void setMeasured(ui::ViewInput& input, typename Kind::Result result,
                 workbench::JobState state = workbench::JobState::Finished, const QString& problem = {}) {
  input.measured[Kind::kId] = {.state = state,
                               .problem = problem,
                               .result = std::make_shared<const typename Kind::Result>(std::move(result))};
}

/// The document of the file resources/queries/NAME.
document::Document exampleDocument(const std::string& name);
/// The document with the first two children of its first plus swapped.
document::Document swapped(document::Document document);

}  // namespace spanscope::test
