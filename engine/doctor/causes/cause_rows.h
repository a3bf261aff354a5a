// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of all causes. Open this file to add a cause: declare its row here, and add a line to the table in
// causes.cpp.
#pragma once

#include "engine/doctor/causes.h"

namespace spanscope::doctor {

Cause modelCause();
Cause otherInputCause();
Cause toolsCause();
Cause historyCutCause();
Cause templateCause();
Cause whiteSpaceCause();
Cause keyOrderCause();
Cause timeCause();
Cause idCause();
Cause documentOrderCause();
Cause documentElsewhereCause();
Cause systemEditedCause();
Cause messageEditedCause();
Cause expiredCause();
Cause otherSlotCause();
Cause evictedCause();
Cause unknownCause();
Cause shorterThanBlockCause();
Cause afterLastBlockCause();
Cause neverSeenCause();

}  // namespace spanscope::doctor
