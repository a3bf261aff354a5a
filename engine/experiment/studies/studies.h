// SPDX-License-Identifier: GPL-3.0-or-later
// The experiments there are, for the registry alone.
#pragma once

#include "engine/experiment/experiment.h"

namespace spanscope::experiment {

extern const Experiment kRagStudy;           ///< time to first token over the number of documents
extern const Experiment kJudgeStudy;         ///< and of a judge over the number of generates it judges
extern const Experiment kRelocationStudy;    ///< the same order against the swapped one
extern const Experiment kReuseStudy;         ///< prompt found by length, order and block size
extern const Experiment kConversationStudy;  ///< hit rate and time by turn, with retrieval
extern const Experiment kFidelityStudy;      ///< how close each policy is to a full prefill
extern const Experiment kRepairStudy;        ///< and how much link and blend repair over their parameter
extern const Experiment kLocalityStudy;      ///< names found, all at once and in portions
extern const Experiment kCroppingStudy;      ///< names found where replies are cropped, and where not
extern const Experiment kAccuracyStudy;      ///< how often each policy is right

extern const Experiment kDepthStudy;  ///< names found by depth and length
extern const Experiment kLoadStudy;   ///< loading kept blocks against computing them

}  // namespace spanscope::experiment
