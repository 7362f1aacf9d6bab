import { handlers } from "@/lib/queue";

export const { GET, POST, PUT, PATCH, DELETE } = handlers;
export const maxDuration = 300;
