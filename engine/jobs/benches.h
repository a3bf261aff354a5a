// SPDX-License-Identifier: GPL-3.0-or-later
// Lists everything that `spanq bench` measures. The help, the completion and the man page of spanq, and the
// table of benchmarks in the manual are made from this list. Open this file to add a bench.
#pragma once

#include "engine/experiment/experiment.h"

#include <string>
#include <vector>

namespace spanscope::jobs {

struct Bench {
  const char* name;      ///< of the command: "abba"
  const char* title;     ///< what the bench measures, for the help
  std::string question;  ///< the question that the bench answers, for the manual
  std::string example;   ///< the arguments of an example.
  /// The kind of job that measures the same (engine/jobs/job.h). A job begins with a loaded model. nullptr:
  /// `start` measures the loading with no other model in memory, and `ops` measures kernels without a model.
  const char* job = nullptr;
  const experiment::Experiment* experiment = nullptr;  ///< null: the bench is no experiment
};

/// All benches, in the order of lists. The last ones are the experiments.
const std::vector<Bench>& benches();

}  // namespace spanscope::jobs
