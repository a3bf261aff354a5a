// SPDX-License-Identifier: GPL-3.0-or-later
// The list of experiments, for the registry only.
#pragma once

#include "engine/experiment/experiment.h"

namespace spanscope::experiment {

extern const Experiment kRagStudy;           ///< time to first token over the number of documents
extern const Experiment kJudgeStudy;         ///< the same for a judge, over the number of generates that it
                                             ///< judges
extern const Experiment kRelocationStudy;    ///< the same order compared with the swapped one
extern const Experiment kReuseStudy;         ///< share of the prompt that is found, by length, order and
                                             ///< block size
extern const Experiment kConversationStudy;  ///< hit rate and time by turn, with retrieval
extern const Experiment kFidelityStudy;      ///< how close each policy is to a full prefill
extern const Experiment kRepairStudy;        ///< how much link and blend repair, over their parameter
extern const Experiment kLocalityStudy;      ///< names found at once and in portions
extern const Experiment kCroppingStudy;      ///< names found with and without cropped replies
extern const Experiment kAccuracyStudy;      ///< how often each policy is right

extern const Experiment kDepthStudy;  ///< names found by depth and length
extern const Experiment kLoadStudy;   ///< loading kept blocks compared with computing them

}  // namespace spanscope::experiment
