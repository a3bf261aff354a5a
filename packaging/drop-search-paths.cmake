# SPDX-License-Identifier: GPL-3.0-or-later
# Has the program or library FILE look for libraries where the system does, and nowhere else: folders of the machine
# that it was built on are not there on others.
file(RPATH_REMOVE FILE ${FILE})
