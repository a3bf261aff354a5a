// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs about answers (engine/jobs), for views: which jobs are possible, which job is running, and the results
// in the trace.
#pragma once

#include "engine/base/ids.h"
#include "engine/jobs/job_call.h"
#include "engine/run/run_result.h"
#include "ui/session/trace_source.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::jobs {
class RecordedJob;
}
namespace spanscope::trace {
struct ArithmeticMeasured;
struct FidelityMeasured;
}  // namespace spanscope::trace

namespace spanscope::ui {

struct ListedRun;
struct ViewInput;

/// A job of the document that has not ended.
struct RunningJob {
  jobs::JobCall call;
  double share = 0;  ///< completed share, 0 … 1
  bool operator==(const RunningJob&) const = default;
};

/// The state of the window's jobs about answers, for all views.
struct ReplayState {
  TraceOrigin origin = TraceOrigin::Unknown;
  bool engineIsBusy = false;  ///< the engine is busy with a run or with `running`
  std::optional<RunningJob> running;
  /// Views show the results of jobs that ended among the first `results` events. The number covers the
  /// results up to the scrubber's position, and results that the user requested there.
  std::size_t results = 0;
  bool operator==(const ReplayState&) const = default;
};

/// Why an answer cannot be recomputed under this policy, as a sentence. Empty: the answer can be recomputed.
/// `policy` is the policy's text in a trace.
QString policyReason(const std::string& policy);
/// Why no job can use this answer now, as a sentence. Empty: a job can use the answer.
QString answerReason(const ViewInput& input, RequestId request);
/// The answer in the form that the engine takes. Call this function only if answerReason() is empty.
run::FinishedAnswer finishedAnswer(const ViewInput& input, RequestId request);

/// Why the job cannot start now, as a sentence. Empty: the job can start.
QString jobReason(const ViewInput& input, const jobs::JobCall& call);
/// The job in the form that the engine takes. Call this function only if jobReason() is empty.
std::shared_ptr<jobs::RecordedJob> jobOf(const ViewInput& input, const jobs::JobCall& call);
/// Whether the job is running.
bool isRunning(const ViewInput& input, const jobs::JobCall& call);
/// Why the last such job failed. Empty: the job succeeded, or there was no such job. Only shown results
/// count.
QString jobProblem(const ViewInput& input, const jobs::JobCall& call);

/// The translation of a text of a job, such as JobEnded::problem.
QString jobText(const char* text);

/// "layer 12, head 3", "layer 12, all heads"
QString layerAndHead(std::int32_t layer, std::int32_t head);

/// The requests under other policies whose prompts have the same visible tokens as this request. Each policy
/// has only its newest request.
std::vector<RequestId> otherPolicies(const ViewInput& input, RequestId request);
/// The policy of a request's run, as documents write it.
QString policyOf(const ViewInput& input, RequestId request);

/// The requests of a run whose answers can be measured now, in the order of the run. The run belongs to the
/// shown trace.
std::vector<RequestId> measurableRequests(const ViewInput& input, RunId run);
/// The completed share of the fidelity job that measures this answer, 0 … 1. Nothing: no such job is running.
std::optional<double> fidelityShare(const ViewInput& input, RequestId request);
/// Why the last fidelity job of this answer failed. Empty: the job did not fail.
QString fidelityProblem(const ListedRun& run, RequestId request);
/// The last fidelity measurement of an answer, even an old one; nullptr if there is none.
const trace::FidelityMeasured* fidelityOf(const ListedRun& run, RequestId request);
/// The last measurement of the answer's arithmetic, compared with f32; nullptr if there is none.
const trace::ArithmeticMeasured* arithmeticOf(const ListedRun& run, RequestId request);

}  // namespace spanscope::ui
