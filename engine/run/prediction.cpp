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
    case Doubt::FullPool:
      return "full_pool";
    case Doubt::Timing:
      return "timing";
  }
  return "none";
}

}  // namespace spanscope::run
