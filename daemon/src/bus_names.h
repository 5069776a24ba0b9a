/* SPDX-License-Identifier: GPL-2.0 */
/* What is called how on D-Bus; org.fullstripe1(5) says what it is. */
#ifndef FULLSTRIPE_BUS_NAMES_H
#define FULLSTRIPE_BUS_NAMES_H

#define BUS_NAME		"org.fullstripe1"
#define BUS_PATH		"/org/fullstripe1"
#define BUS_DEVICES_PATH	BUS_PATH "/device"
#define BUS_MANAGER		BUS_NAME ".Manager"
#define BUS_DEVICE		BUS_NAME ".Device"

#define BUS_ERROR_CONFIG	BUS_NAME ".Error.ConfigurationWrong"
#define BUS_ERROR_NOTHING	BUS_NAME ".Error.NothingToDo"
#define BUS_ERROR_RECORDING	BUS_NAME ".Error.Recording"

#define BUS_ACTION_CONTROL	BUS_NAME ".control"

#endif
