// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/prediction.h"

namespace spanscope::run {

const char* doubtName(Doubt doubt) {
  switch (doubt) {
    case Doubt::None:
      break;
    case Doubt::HoldsReply:
      return "holds_reply";
    case Doubt::ContinuesReply:
      return "continues_reply";
    case Doubt::SeveralBlocks:
      return "several_blocks";
    case Doubt::FullPool:
      return "full_pool";
    case Doubt::Tiers:
      return "tiers";
  }
  return "none";
}

const char* doubtReason(Doubt doubt) {
  switch (doubt) {
    case Doubt::None:
      break;
    case Doubt::HoldsReply:
      return "the prompt holds a reply that has yet to be sampled";
    case Doubt::ContinuesReply:
      return "a segment reaches to where a reply to an earlier prompt will stand";
    case Doubt::SeveralBlocks:
      return "what is found stands at several positions, and when replies end decides which of these is "
             "found";
    case Doubt::FullPool:
      return "the pool is full, and how long replies get decides what is evicted or has to wait";
    case Doubt::Tiers:
      return "what is loaded from host memory or the disk turns out when it is read";
  }
  return "";
}

}  // namespace spanscope::run
