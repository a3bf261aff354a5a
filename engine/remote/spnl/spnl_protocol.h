// SPDX-License-Identifier: GPL-3.0-or-later
// SPNL's query endpoint, which span servers have: a call is sent with its joins, so that the server finds
// each span wherever it stands.
#pragma once

#include "engine/remote/protocol.h"

namespace spanscope::remote {

extern const Protocol kSpnlProtocol;

}  // namespace spanscope::remote
